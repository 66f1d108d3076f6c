"""The clock of a client that is never starved."""

from dataclasses import dataclass

import pytest

from exporter.probe.replay import Replay


@dataclass(frozen=True)
class Step:
    """What happens next in a handshake; times in ns."""

    work: int = 0
    depart: int | None = None
    report: tuple[int, int] | None = None
    arrive: tuple[int | None, int, int] | None = None


def play(steps: list[Step]) -> Replay:
    """Replay steps in order."""
    replay = Replay()
    for step in steps:
        replay.work(step.work)
        if step.depart is not None:
            replay.depart(step.depart)
        if step.report is not None:
            replay.report(*step.report)
        if step.arrive is not None:
            replay.arrive(*step.arrive)
    return replay


ONE_WAIT = [Step(work=300, depart=516), Step(report=(516, 10_000)), Step(arrive=(11_000, 800, 0)), Step(work=400)]
READ_LATE = [
    Step(work=300, depart=516),
    Step(report=(516, 10_000)),
    Step(arrive=(11_000, 800, 90_000_000)),
    Step(work=400),
]
TWO_WAITS = [*ONE_WAIT, Step(depart=600), Step(report=(600, 12_000)), Step(arrive=(12_500, 50, 0)), Step(work=100)]
IN_PIECES = [
    Step(work=300, depart=516),
    Step(report=(516, 10_000)),
    Step(arrive=(11_000, 100, 0)),
    Step(work=400),
    Step(arrive=(11_200, 100, 0)),
    Step(work=400),
]
RETRANSMITTED = [
    Step(depart=516),
    Step(report=(516, 10_000)),
    Step(report=(516, 250_000)),
    Step(arrive=(251_000, 9, 0)),
]


@pytest.mark.parametrize(
    ("steps", "clock"),
    [
        pytest.param(ONE_WAIT, 300 + 1000 + 400, id="work, wait, work"),
        pytest.param(READ_LATE, 300 + 1000 + 400, id="reading late costs nothing"),
        pytest.param(TWO_WAITS, 1700 + 500 + 100, id="two waits"),
        pytest.param(IN_PIECES, 300 + 1000 + 400 + 400, id="work that overlaps with waiting counts once"),
        pytest.param(RETRANSMITTED, 241_000, id="the first report of a flight counts"),
    ],
)
def test_clock(steps: list[Step], clock: int) -> None:
    """The clock moves by our work, and by what the kernel saw pass between departure and arrival."""
    assert clock == play(steps).clock


@pytest.mark.parametrize(
    ("steps", "round_trip", "server"),
    [
        pytest.param(ONE_WAIT, 50, 950, id="one wait"),
        pytest.param(TWO_WAITS, 50, 950 + 450, id="two waits add up"),
        pytest.param(IN_PIECES, 50, 950, id="the first byte ends the server's part"),
        pytest.param(ONE_WAIT, 2000, 0, id="never below nothing"),
        pytest.param([Step(work=5)], 0, None, id="nothing was waited for"),
        pytest.param([Step(depart=1), Step(arrive=(5, 5, 0))], 0, None, id="no report of the departure"),
    ],
)
def test_server_time(steps: list[Step], round_trip: int, server: int | None) -> None:
    """The server's part is each wait until its first byte, less the path's round trip."""
    assert server == play(steps).server_time(round_trip)


@pytest.mark.parametrize(
    ("steps", "missing"),
    [
        pytest.param(ONE_WAIT, False, id="all there"),
        pytest.param([Step(depart=1), Step(arrive=(5, 5, 0))], True, id="no report"),
        pytest.param([Step(depart=1), Step(report=(1, 1)), Step(arrive=(None, 5, 0))], True, id="no arrival stamp"),
        pytest.param([Step(arrive=(5, 5, 0))], True, id="an arrival that answers nothing"),
    ],
)
def test_missing_stamps(steps: list[Step], missing: bool) -> None:
    """A stamp that is not there is told, so that another clock is taken."""
    assert missing is play(steps).stamps_missing


@pytest.mark.parametrize(
    ("first", "segment", "merged"),
    [
        pytest.param(800, 1448, False, id="one segment"),
        pytest.param(1449, 1448, True, id="more than a segment at once"),
        pytest.param(1449, 0, False, id="segment size unknown"),
    ],
)
def test_merged(first: int, segment: int, merged: bool) -> None:
    """A first read of more than a segment may hide when its first byte came."""
    replay = play([Step(depart=1), Step(report=(1, 1)), Step(arrive=(5, first, 0))])

    assert merged is replay.merged(segment)
