"""Processor time of a full handshake with its request, beside blackbox_exporter and beside a bare client."""

import statistics
from collections.abc import Sequence

from tests.bench.client import Client, blackbox, child
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.bench.turn import Turn

_ROUNDS = 5
_RATE = 100.0
_PACED = Turn(300, rate=_RATE, http=True, keep=1)
_FLAT_OUT = Turn(500, http=True)
_PACED_GOAL, _FLAT_OUT_GOAL = 0.8, 1.5


def measure_paced(site: Site) -> Table:
    """Compare with blackbox_exporter at a pace of 100 a second."""
    with (
        child("prober", site.address, site.authority) as ours,
        blackbox(site.folder / "blackbox", site.free_address(), site.address, site.authority) as theirs,
        child("bare", site.address, site.authority) as bare,
    ):
        costs = _compare((ours, theirs, bare), _PACED)
    return _tabulate(
        f"Processor time at {_RATE:.0f} a second",
        "User and system time of the client's whole process for each full TLS 1.3 handshake with one HTTP request; "
        "ours takes the session, too, as each round does to offer it. Measured "
        f"by the system's clock of that process, in {_ROUNDS} alternating turns of {_PACED.count}. "
        "blackbox_exporter's includes the scrape by which it is asked; the bare client is that of the next table, the "
        "least that Python can do.",
        ("ours", "blackbox_exporter", "bare blocking client"),
        costs,
        _PACED_GOAL,
    )


def measure_flat_out(site: Site) -> Table:
    """Compare with a bare blocking client, back to back."""
    with (
        child("prober", site.address, site.authority) as ours,
        child("bare", site.address, site.authority) as bare,
    ):
        costs = _compare((ours, bare), _FLAT_OUT)
    return _tabulate(
        "Processor time flat out",
        "The same one after another without a pause, beside a loop over a blocking socket and the standard library's "
        f"`ssl` that makes the same request and measures nothing, in {_ROUNDS} alternating turns of {_FLAT_OUT.count}.",
        ("ours", "bare blocking client"),
        costs,
        _FLAT_OUT_GOAL,
    )


def _compare(clients: Sequence[Client], turn: Turn) -> list[list[float]]:
    """Let them take turns; returns for each client its seconds a handshake, turn by turn."""
    turns = [[client.take(turn).cpu_each for client in clients] for _ in range(_ROUNDS)]
    return [list(column) for column in zip(*turns, strict=True)]


def _tabulate(title: str, method: str, names: Sequence[str], costs: Sequence[Sequence[float]], goal: float) -> Table:
    medians = [statistics.median(cost) for cost in costs]
    ratio = statistics.median(a / b for a, b in zip(costs[0], costs[1], strict=True))
    return Table(
        title,
        method,
        ("client", "ms a handshake, median", "least", "most"),
        tuple(
            (name, milliseconds(middle), milliseconds(min(cost)), milliseconds(max(cost)))
            for name, middle, cost in zip(names, medians, costs, strict=True)
        ),
        ((f"ours is {ratio:.2f} times the other's (median of the turns' ratios), at most {goal}", ratio <= goal),),
    )
