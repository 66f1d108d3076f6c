"""Names of keys as they follow each other at one backend."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.verdict.keyline import KeyLine, follow


def play(*rounds: str) -> KeyLine:
    """Follow rounds, in each of which these keys were seen one after the other; small letters mean accepted ones."""
    line = KeyLine()
    for number, letters in enumerate(rounds, 1):
        issued = [letter.encode() * 16 for letter in letters if letter.isupper()]
        accepted = [letter.upper().encode() * 16 for letter in letters if letter.islower()]
        line = follow(line, issued, accepted, number)
    return line


@pytest.mark.parametrize(
    ("rounds", "name", "firm", "several"),
    [
        pytest.param([], None, False, False, id="nothing"),
        pytest.param(["A"], "A", False, False, id="the first one"),
        pytest.param(["AAAA"] * 3, "A", True, False, id="long enough to be sure"),
        pytest.param(["AAAA"] * 3 + ["BB"], "A", True, False, id="two are no proof"),
        pytest.param(["AAAA"] * 3 + ["BBB"], "B", True, False, id="a change in one round"),
        pytest.param(["AAAA"] * 3 + ["B", "B", "B"], "B", True, False, id="a change over some rounds"),
        pytest.param(["Aaaa"] * 3 + ["Bb", "B"], "B", True, False, id="acceptance backs it"),
        pytest.param(["AA", "BBB"], "A", False, False, id="too little was seen before"),
        pytest.param(["AA", "BBBB", "BBBBBB"], "B", True, False, id="until enough was seen after"),
        pytest.param(["AAAA"] * 3 + ["BB", "A", "BB"], "A", False, True, id="and back, and again"),
        pytest.param(["AAAA"] * 3 + ["BBB", "AAA"], "B", True, False, id="taken back"),
        pytest.param(["AB", "AB", "BA"], "A", False, True, id="in turn"),
        pytest.param(["AAAA"] * 3 + ["BCBCBC"], "A", True, False, id="one round of two others in turn"),
    ],
)
def test_follow(rounds: list[str], name: str | None, firm: bool, several: bool) -> None:
    """One key after the other is a change once chance is ruled out; keys that come back are several."""
    line = play(*rounds)

    assert (line.name, line.firm, line.several) == (name and name.encode() * 16, firm, several)


def test_keys_that_came_back_long_ago_are_forgotten() -> None:
    """Keys that were several are one again when eight rounds have shown no other."""
    assert play("AB", "AB", "AB").several
    assert not play("AB", "AB", "AB", *["B"] * 8).several


@given(st.lists(st.text("ABCab", max_size=6), max_size=30))
def test_what_is_remembered_is_bounded(rounds: list[str]) -> None:
    """Whatever is seen, the memory stays small, and a rival is never the key that the backend is settled on."""
    line = play(*rounds)

    assert len(line.runs) <= 8
    assert len(line.returns) <= 8
    assert line.streak <= 64 + 6
    assert line.rival is None or line.rival != line.name
