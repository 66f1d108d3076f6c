"""What connections that say nothing cost those who come to scrape."""

import asyncio
from collections.abc import Sequence
from statistics import median

from exporter.app.garbage import leave_out_what_stays
from exporter.metrics.exposition import render_pieces
from exporter.metrics.faults import Faults
from exporter.web.door import Door
from exporter.web.pages import Pages
from exporter.web.server import serve
from tests.bench.held import Outsider, Watch, outsider, watched
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.bench.visitor import Visit
from tests.metrics.cost import fleet
from tests.metrics.scenes import Unheard, collector

_CROWD = 500
_TURNS = 20
_TARGETS = 10
_GOAL = 0.1
_CALM = 0.1  # seconds in which what one turn left behind is over
_KEPT, _FRESH = Visit("/metrics"), Visit("/metrics", fresh=True)
_ALONE, _STANDING, _ARRIVING, _KEPT_ARRIVING = (
    "alone",
    f"{_CROWD} silent connections standing",
    f"{_CROWD} silent connections arriving, the scrape's behind them",
    f"{_CROWD} silent connections arriving, the scrape's kept from before",
)

_Taken = tuple[float, float]
"""Seconds of a scrape, and for how many the loop was held at its worst meanwhile."""


def measure(_site: Site) -> Table:
    """Scrape alone and beside a crowd, by turns."""
    found = asyncio.run(_scrape())
    alone = median(seconds for seconds, _ in found[_ALONE])
    return Table(
        "Silent connections",
        f"Scrapes of a small exporter by a process on the other core, {_TURNS} times in each way by turns, on a new "
        "connection but where it says otherwise. The crowd connects without waiting in between and says nothing. "
        "The delay is that over the median alone.",
        ("scrape", "median, ms", "most, ms", "delay at most, ms", "loop held at worst, median, ms", "most, ms"),
        tuple(_row(name, taken, alone) for name, taken in found.items()),
        tuple(
            (f"{name}: the scrape is never delayed by {_GOAL * 1e3:.0f} ms", _most(taken) - alone < _GOAL)
            for name, taken in found.items()
            if name is not _ALONE
        ),
    )


def _most(taken: Sequence[_Taken]) -> float:
    return max(seconds for seconds, _ in taken)


def _row(name: str, taken: Sequence[_Taken], alone: float) -> tuple[str, ...]:
    seconds, held = zip(*taken, strict=True)
    return (name, *map(milliseconds, (median(seconds), max(seconds), max(seconds) - alone, median(held), max(held))))


async def _scrape() -> dict[str, list[_Taken]]:
    shown, faults = collector(fleet(_TARGETS)), Faults(Unheard())
    pages = Pages(lambda accept: render_pieces((shown,), accept, faults), lambda: None, lambda: _TARGETS, "")
    found: dict[str, list[_Taken]] = {name: [] for name in (_ALONE, _STANDING, _ARRIVING, _KEPT_ARRIVING)}
    async with (
        serve(Door(("127.0.0.1:0",)), pages) as served,
        outsider(served.addresses[0]) as client,
        watched() as watch,
    ):
        await client.visit(_KEPT)
        leave_out_what_stays()  # as the daemon does
        for _ in range(_TURNS):
            await client.visit(Visit("/metrics", leave=True))
            found[_ALONE].append(await _ask(client, watch, _FRESH))
            found[_ARRIVING].append(await _ask(client, watch, Visit("/metrics", fresh=True, crowd=_CROWD)))
            found[_STANDING].append(await _ask(client, watch, _FRESH))
            await client.visit(Visit("/metrics", leave=True))
            found[_KEPT_ARRIVING].append(await _ask(client, watch, Visit("/metrics", crowd=_CROWD)))
    return found


async def _ask(client: Outsider, watch: Watch, visit: Visit) -> _Taken:
    await asyncio.sleep(_CALM)
    watch.worst = 0.0
    seen = await client.visit(visit)
    await asyncio.sleep(_CALM)  # part of the crowd may be let in after the scrape
    return seen.seconds[0], watch.worst
