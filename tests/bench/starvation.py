"""What our starvation does to the target's figure: ours, by our wall clock, and blackbox_exporter's."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from tests.bench import load
from tests.bench.client import blackbox, child
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.bench.turn import Taken, Turn, join, percentile

_ROUNDS = 4
_PAUSES = (0.006, 0.010)  # drawn, lest a client fall into step with whoever stops it
_HIT = 0.003
"""Seconds by which the wall clock must exceed the figure for a handshake to count as hit by starvation."""
_P50_GOAL, _P90_GOAL = 1.25, 1.40

_Starve = Callable[[int], AbstractContextManager[None]]
_CASES: tuple[tuple[str, _Starve, int], ...] = (
    ("idle", load.calm, 100),
    ("four busy loops on the core", load.busy, 100),
    ("stopped 90 ms of every 100", load.stopped, 350),  # of ours about a quarter are under way when the stop comes
)
"""What each case is called, how it comes about, and how many handshakes a turn of ours has in it."""
_THEIR_COUNT = 100


def measure(site: Site) -> Table:
    """Let both clients take turns in each case."""
    with (
        child("prober", site.address, site.authority) as ours,
        blackbox(site.folder / "blackbox", site.free_address(), site.address, site.authority) as theirs,
    ):
        turns: dict[str, tuple[list[Taken], list[Taken]]] = {name: ([], []) for name, _, _ in _CASES}
        for _ in range(_ROUNDS):
            for name, starve, count in _CASES:
                mine, others = turns[name]
                with starve(ours.pid):
                    mine.append(ours.take(Turn(count, pauses=_PAUSES)))
                with starve(theirs.pid):
                    others.append(theirs.take(Turn(_THEIR_COUNT, pauses=_PAUSES)))
    return _tabulate({name: (join(mine), join(others)) for name, (mine, others) in turns.items()})


def _tabulate(taken: dict[str, tuple[Taken, Taken]]) -> Table:
    """Compare each case, ours and theirs, with the first, which is idle."""
    idle, *starved = taken
    calm, their_calm = taken[idle]
    rows = []
    goals = []
    for name, (ours, theirs) in taken.items():
        rows.append(_row("ours", name, ours.durations, calm.durations))
        if name in starved:
            hit = [d for d, wall in zip(ours.durations, ours.walls, strict=True) if wall - d > _HIT]
            rows.append(_row("ours, those hit", name, hit, calm.durations))
            goals += [
                _goal(name, hit, calm.durations, percent, goal) for percent, goal in ((50, _P50_GOAL), (90, _P90_GOAL))
            ]
        rows.append(_row("our wall clock", name, ours.walls, calm.walls))
        rows.append(_row("blackbox_exporter", name, theirs.durations, their_calm.durations))
    return Table(
        "Starvation",
        f"Full TLS 1.3 handshakes without a request, {_PAUSES[0] * 1e3:.0f} to {_PAUSES[1] * 1e3:.0f} ms between two, "
        f"client on one core and nginx on the other, in {_ROUNDS} alternating turns. blackbox_exporter's figure is its "
        f"phase `tls`. Hit: our wall clock exceeded our figure by over {_HIT * 1e3:.0f} ms, so that it fell "
        "into the handshake; the others tell nothing of it, and the goals are for the hit ones.",
        ("client", "case", "handshakes", "p50 ms", "p90 ms", "p99 ms", "p50 to idle", "p90 to idle"),
        tuple(rows),
        tuple(goals),
    )


def _goal(case: str, hit: Sequence[float], idle: Sequence[float], percent: int, goal: float) -> tuple[str, bool]:
    ratio = _ratio(hit, idle, percent)
    return f"{case}, p{percent} of those hit: {ratio:.2f} times idle, at most {goal}", ratio <= goal


def _row(client: str, case: str, figures: Sequence[float], idle: Sequence[float]) -> tuple[str, ...]:
    values = (milliseconds(percentile(figures, percent)) for percent in (50, 90, 99))
    ratios = (f"{_ratio(figures, idle, percent):.2f}" for percent in (50, 90))
    return (client, case, str(len(figures)), *values, *ratios)


def _ratio(figures: Sequence[float], idle: Sequence[float], percent: int) -> float:
    return percentile(figures, percent) / percentile(idle, percent)
