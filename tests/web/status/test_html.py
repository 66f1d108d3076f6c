"""HTML that escapes by the way it is made."""

import pytest

from exporter.web.status.html import Html, element, join


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(element("p", "<script>&"), "<p>&lt;script&gt;&amp;</p>", id="text"),
        pytest.param(element("p", title='"><b'), '<p title="&quot;&gt;&lt;b"></p>', id="attribute"),
        pytest.param(element("p", element("b", 1), None), "<p><b>1</b></p>", id="elements and numbers"),
        pytest.param(element("p", "a\u202eb\x00\n"), "<p>a\\u202eb\\x00\\n</p>", id="characters that are not seen"),
        pytest.param(element("input", disabled=True, value=None), "<input disabled>", id="attributes alone"),
        pytest.param(join(["a", Html("<br>")], "<"), "a<br>&lt;", id="several"),
    ],
)
def test_elements(made: Html, expected: str) -> None:
    """Only what was made as HTML stands as HTML."""
    assert made == expected
