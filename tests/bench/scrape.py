"""A scrape of a large exporter: how long it takes, and for how long the event loop is held meanwhile."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from prometheus_client.parser import text_string_to_metric_families

from exporter.metrics.exposition import render
from exporter.metrics.faults import Faults
from exporter.web.scrapes import Scrapes
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.metrics.cost import fleet
from tests.metrics.scenes import Unheard, collector

_SERIES = 100_000
_EACH = 600
_TURNS = 9
_TICK = 0.001
_GOAL, _HELD_GOAL = 0.5, 0.02


def measure(_site: Site) -> Table:
    """Scrape some times, while a task of the loop's notes by how much its ticks come late."""
    targets = _SERIES // _EACH
    shown = collector(fleet(targets))
    faults = Faults(Unheard())
    with ThreadPoolExecutor(1) as thread:
        scrapes = Scrapes(lambda accept: render((shown,), accept, faults), thread)
        seconds, held, idle, body = asyncio.run(_scrape(scrapes))
    text = body.decode()
    series = sum(line[:1] not in {"", "#"} for line in text.splitlines())
    read = sum(len(family.samples) for family in text_string_to_metric_families(text))
    return Table(
        "Scrape",
        f"The text format of {series:,} series over {targets:,} targets, made {_TURNS} times in the "
        "thread that the web side has for it, while the event loop ticks every millisecond. All of it is read back by "
        "prometheus_client's parser.",
        ("what", "median, ms", "most, ms"),
        (
            ("a scrape", milliseconds(median(seconds)), milliseconds(max(seconds))),
            ("the loop held, at its worst in a scrape", milliseconds(median(held)), milliseconds(max(held))),
            ("the loop held, without a scrape", "", milliseconds(idle)),
        ),
        (
            (f"at least {_SERIES:,} series, and the parser reads as many", _SERIES <= series == read),
            (f"the median scrape under {_GOAL:g} s", median(seconds) < _GOAL),
            (
                f"the loop held for at most {_HELD_GOAL * 1e3:.0f} ms, by the median of scrapes",
                median(held) < _HELD_GOAL,
            ),
        ),
    )


async def _scrape(scrapes: Scrapes) -> tuple[list[float], list[float], float, bytes]:
    """Return the seconds of each scrape, the longest hold in each, the longest in as much time without, and a body."""
    seconds: list[float] = []
    held: list[float] = []
    body = b""
    async with asyncio.TaskGroup() as group:
        watch = _Watch()
        ticking = group.create_task(watch.tick())
        for _ in range(_TURNS):
            watch.worst = 0.0
            began = time.perf_counter()
            body = (await scrapes.ask("text/plain", packed=False)).body
            seconds.append(time.perf_counter() - began)
            held.append(watch.worst)
        watch.worst = 0.0
        await asyncio.sleep(median(seconds))
        idle = watch.worst
        ticking.cancel()
    return seconds, held, idle, body


class _Watch:
    """Ticks, and notes the latest tick."""

    def __init__(self) -> None:
        self.worst = 0.0

    async def tick(self) -> None:
        """Tick until cancelled."""
        while True:
            due = time.perf_counter() + _TICK
            await asyncio.sleep(_TICK)
            self.worst = max(self.worst, time.perf_counter() - due)
