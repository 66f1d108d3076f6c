"""When backends may differ."""

import pytest

from exporter.model.verdicts import TargetState
from exporter.verdict.rotation import Rotation, conclude, turn
from tests.verdict.fleet import address

ONE, TWO = address(1), address(2)
ROTATING, SPLIT, CONSISTENT = TargetState.ROTATING, TargetState.SPLIT, TargetState.CONSISTENT
UNKNOWN = TargetState.UNKNOWN
GRACE = 60.0


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([("", ROTATING, 0)], False, id="nothing has turned"),
        pytest.param([("1", ROTATING, 0)], True, id="one turned just now"),
        pytest.param([("1", ROTATING, 0), ("", ROTATING, 60)], True, id="at the end of the grace time"),
        pytest.param([("1", ROTATING, 0), ("", ROTATING, 61)], False, id="the grace time is over"),
        pytest.param([("1", ROTATING, 0), ("2", ROTATING, 50), ("", ROTATING, 100)], True, id="another prolongs it"),
        pytest.param([("1", ROTATING, 0), ("1", ROTATING, 50), ("", ROTATING, 100)], False, id="the same does not"),
        pytest.param([("", SPLIT, 0), ("1", SPLIT, 10)], False, id="parted already"),
        pytest.param([("", SPLIT, 0), ("", UNKNOWN, 10), ("1", ROTATING, 20)], False, id="parted, for all one knows"),
        pytest.param([("", SPLIT, 0), ("", CONSISTENT, 10), ("1", ROTATING, 20)], True, id="mended since"),
        pytest.param([("1", ROTATING, 0), ("", CONSISTENT, 30), ("", ROTATING, 50)], True, id="one did not answer"),
        pytest.param(
            [("1", ROTATING, 0), ("2", CONSISTENT, 20), ("1", ROTATING, 50), ("", ROTATING, 100)],
            True,
            id="gone through, and another soon after",
        ),
        pytest.param(
            [("1", ROTATING, 0), ("", CONSISTENT, 20), ("1", ROTATING, 50), ("", ROTATING, 100)],
            False,
            id="not gone through, and the same again",
        ),
        pytest.param(
            [("1", ROTATING, 0), ("2", ROTATING, 20), ("1", ROTATING, 50), ("", ROTATING, 100)],
            False,
            id="all turned and none agree",
        ),
        pytest.param(
            [("1", ROTATING, 0), ("", CONSISTENT, 90), ("1", ROTATING, 100), ("", ROTATING, 150)],
            True,
            id="over, and again",
        ),
    ],
)
def test_excuses(steps: list[tuple[str, TargetState, float]], expected: bool) -> None:
    """A change excuses that backends differ, for a time, and only if they were not parted before."""
    rotation, excused = Rotation(), False
    for turning, state, now in steps:
        rotation = turn(rotation, [address(int(digit)) for digit in turning], now)
        excused = rotation.excuses(now, GRACE)
        rotation = conclude(rotation, state, [ONE, TWO], now=now, grace=GRACE)

    assert excused is expected


def test_those_that_left_are_forgotten() -> None:
    """Only backends that are still there are remembered to have turned."""
    rotation = conclude(turn(Rotation(), [ONE, TWO], 0.0), ROTATING, [TWO], now=0.0, grace=GRACE)

    assert rotation.turned == {TWO}
