"""How long a probe may take."""

import pytest

from exporter.web.status.probe import budget_of


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param("10", 9.5, id="half a second less"),
        pytest.param("0.8", 0.4, id="hardly any time"),
        pytest.param("0.1", 0.05, id="less than the offset"),
        pytest.param(None, 30.0, id="a person"),
        pytest.param("0", 30.0, id="none"),
        pytest.param("-3", 30.0, id="negative"),
        pytest.param("inf", 30.0, id="endless"),
        pytest.param("nan", 30.0, id="no number"),
        pytest.param("soon", 30.0, id="a word"),
    ],
)
def test_budget(header: str | None, expected: float) -> None:
    """The answer comes before the scraper's timeout, and there is always some time to take."""
    assert budget_of(header) == pytest.approx(expected)
