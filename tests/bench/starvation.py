"""What our starvation does to the target's figure: ours, by our wall clock, and blackbox_exporter's."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from tests.bench import load
from tests.bench.client import Client, blackbox, child
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.bench.turn import Taken, Turn, join, percentile

_ROUNDS = 4
_PAUSES = (0.005, 0.015)  # 10 ms on average; drawn, lest a client fall into step with whoever stops it
_TURN = Turn(100, pauses=_PAUSES)
_HIT = 0.003
"""Seconds by which the wall clock must exceed the figure for a handshake to count as hit by starvation."""
_P50_GOAL, _P90_GOAL = 1.25, 1.40

_Starve = Callable[[int], AbstractContextManager[None]]
_CASES: tuple[tuple[str, _Starve], ...] = (
    ("idle", load.calm),
    ("four busy loops on the core", load.busy),
    ("stopped 90 ms of every 100", load.stopped),
)


def measure(site: Site) -> Table:
    """Let both clients take turns in each case."""
    with (
        child("prober", site.address, site.authority) as ours,
        blackbox(site.folder / "blackbox", site.free_address(), site.address, site.authority) as theirs,
    ):
        turns: dict[tuple[str, Client], list[Taken]] = {}
        for _ in range(_ROUNDS):
            for name, starve in _CASES:
                for client in (ours, theirs):
                    with starve(client.pid):
                        turns.setdefault((name, client), []).append(client.take(_TURN))
        taken = {key: join(list_) for key, list_ in turns.items()}
        return _tabulate(
            {name: taken[name, ours] for name, _ in _CASES}, {name: taken[name, theirs] for name, _ in _CASES}
        )


def _tabulate(ours: dict[str, Taken], theirs: dict[str, Taken]) -> Table:
    idle, *starved = (name for name, _ in _CASES)
    rows = []
    goals = []
    for name, taken in ours.items():
        rows.append(_row("ours", name, taken.durations, ours[idle].durations))
        hit = [d for d, wall in zip(taken.durations, taken.walls, strict=True) if wall - d > _HIT]
        if name in starved and len(hit) > 1:
            rows.append(_row("ours, those that starvation hit", name, hit, ours[idle].durations))
        rows.append(_row("our wall clock", name, taken.walls, ours[idle].walls))
        rows.append(_row("blackbox_exporter", name, theirs[name].durations, theirs[idle].durations))
    for name in starved:
        for percent, goal in ((50, _P50_GOAL), (90, _P90_GOAL)):
            ratio = _ratio(ours[name].durations, ours[idle].durations, percent)
            goals.append((f"p{percent}, {name}: {ratio:.2f} times idle, at most {goal}", ratio <= goal))
    return Table(
        "Starvation",
        "Full TLS 1.3 handshakes without a request, 5 to 15 ms between two, client on one core and nginx on the other, "
        f"in {_ROUNDS} alternating turns of {_TURN.count} each. blackbox_exporter's figure is its phase `tls`. "
        f"Hit: the wall clock exceeded the figure by over {_HIT * 1e3:.0f} ms.",
        ("client", "case", "handshakes", "p50 ms", "p90 ms", "p50 to idle", "p90 to idle"),
        tuple(rows),
        tuple(goals),
    )


def _row(client: str, case: str, figures: Sequence[float], idle: Sequence[float]) -> tuple[str, ...]:
    values = (milliseconds(percentile(figures, percent)) for percent in (50, 90))
    ratios = (f"{_ratio(figures, idle, percent):.2f}" for percent in (50, 90))
    return (client, case, str(len(figures)), *values, *ratios)


def _ratio(figures: Sequence[float], idle: Sequence[float], percent: int) -> float:
    return percentile(figures, percent) / percentile(idle, percent)
