"""A scrape of a large exporter: how long it takes, and for how long the event loop is held meanwhile."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from prometheus_client.parser import text_string_to_metric_families

from exporter.metrics.exposition import render_pieces
from exporter.metrics.faults import Faults
from exporter.web.door import Door
from exporter.web.pages import Pages
from exporter.web.server import serve
from tests.bench.held import Outsider, Watch, outsider, watched
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.bench.visitor import Visit
from tests.metrics.cost import fleet, rounds
from tests.metrics.scenes import Unheard, collector

_SERIES = 100_000
_EACH = 600
_TARGETS = _SERIES // _EACH
_TURNS = 9
_GOAL, _HELD_GOAL = 0.5, 0.02
_PACKED = "Accept: application/openmetrics-text; version=1.0.0\r\nAccept-Encoding: gzip\r\n"
_PLAIN = "the text"


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to be scraped: by which headers, and whether all targets had a round since the last time."""

    name: str
    headers: str = ""
    rounds: bool = True


_WAYS = (
    _Way(_PLAIN),
    _Way("the text again, no round since", rounds=False),
    _Way("OpenMetrics with gzip", _PACKED),
    _Way("OpenMetrics with gzip again, no round since", _PACKED, rounds=False),
)


@dataclass(slots=True)
class _Taken:
    """Seconds of each scrape, and the longest for which the loop was held in each."""

    seconds: list[float]
    held: list[float]


def measure(site: Site) -> Table:
    """Scrape in each way by turns, while a task of the loop's notes by how much its ticks come late."""
    file = site.folder / "exposition"
    found, idle = asyncio.run(_scrape(file))
    text = file.read_text()
    series = sum(line[:1] not in {"", "#"} for line in text.splitlines())
    read = sum(len(family.samples) for family in text_string_to_metric_families(text))
    plain = found[_PLAIN]
    return Table(
        "Scrape",
        f"{series:,} series over {_TARGETS:,} targets, asked for by a process on the other core over HTTP, {_TURNS} "
        "times in each way by turns, from the request to the last byte, while the event loop ticks every millisecond. "
        "All targets had a round since the scrape before, but where it says otherwise. The whole text is read back by "
        "prometheus_client's parser.",
        ("scrape", "median, ms", "most, ms", "loop held at worst, median, ms", "most, ms"),
        (*(_row(name, taken) for name, taken in found.items()), ("none", "", "", "", milliseconds(idle))),
        (
            (f"at least {_SERIES:,} series, and the parser reads as many", _SERIES <= series == read),
            (f"the median scrape of {_PLAIN} under {_GOAL:g} s", median(plain.seconds) < _GOAL),
            *(
                (f"{name}: the loop held for at most {_HELD_GOAL * 1e3:.0f} ms, by the median of scrapes",
                 median(taken.held) < _HELD_GOAL)
                for name, taken in found.items()
            ),
        ),
    )  # fmt: skip


def _row(name: str, taken: _Taken) -> tuple[str, ...]:
    figures: Sequence[float] = (median(taken.seconds), max(taken.seconds), median(taken.held), max(taken.held))
    return (name, *map(milliseconds, figures))


async def _scrape(file: Path) -> tuple[dict[str, _Taken], float]:
    """Return what each way took, and the longest hold in a second without; put the text into a file."""
    ledger = fleet(_TARGETS)
    made = tuple(rounds(_TARGETS))
    shown, faults = collector(ledger), Faults(Unheard())
    pages = Pages(lambda accept: render_pieces((shown,), accept, faults), lambda: None, lambda: _TARGETS, "")
    found = {way.name: _Taken([], []) for way in _WAYS}
    async with (
        serve(Door(("127.0.0.1:0",)), pages) as served,
        outsider(served.addresses[0]) as client,
        watched() as watch,
    ):
        for turn in range(_TURNS + 1):
            for way in _WAYS:
                for result in made if way.rounds else ():
                    ledger.fold(result)
                seconds, held = await _ask(client, watch, Visit("/metrics", way.headers))
                if turn:
                    found[way.name].seconds.append(seconds)
                    found[way.name].held.append(held)
        await client.visit(Visit("/metrics", file=str(file)))
        watch.worst = 0.0
        await asyncio.sleep(1)
        return found, watch.worst


async def _ask(client: Outsider, watch: Watch, visit: Visit) -> tuple[float, float]:
    await asyncio.sleep(0.05)  # what was due before is over
    watch.worst = 0.0
    seen = await client.visit(visit)
    return seen.seconds[0], watch.worst
