"""What the others notice when pages of very many targets are asked for without a pause."""

import asyncio
from collections.abc import Sequence
from statistics import median

from exporter.model.verdicts import RoundResult
from exporter.web.door import Door
from exporter.web.pages import Pages
from exporter.web.server import serve
from exporter.web.status.history import History
from exporter.web.status.status import Status
from tests.bench.held import Outsider, outsider
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.bench.turn import percentile
from tests.bench.visitor import Visit
from tests.metrics.cost import rounds

_TARGETS = 1001
_ROUNDS = 20
_INTERVAL = 60.0
_CLIENTS = 20
_SECONDS = 5.0
_TURNS = 3
_GOAL = 0.05
_PATHS = ("/api/v1/targets", "/")

_Answers = tuple[Sequence[float], Sequence[float]]
"""Seconds of the small answers, and of the large ones that are asked for meanwhile."""


def measure(_site: Site) -> Table:
    """Ask for health while others ask for each of the large pages, by turns."""
    found = asyncio.run(_hammer())
    return Table(
        "Large pages",
        f"{_TARGETS:,} targets with {_ROUNDS} rounds each, and one more ends every {_INTERVAL / _TARGETS * 1e3:.0f} "
        f"ms. {_CLIENTS} clients in a process on the other core ask for a page, each again as soon as it has it, for "
        f"{_TURNS} times {_SECONDS:g} s by turns, while another process there asks for `/-/healthy` likewise.",
        ("page", "answers a second", "`/-/healthy`, median, ms", "99th percentile, ms", "most, ms"),
        tuple(_row(path or "none", answers) for path, answers in found.items()),
        tuple(
            (f"{path}: the 99th percentile of the others under {_GOAL * 1e3:.0f} ms", percentile(small, 99) < _GOAL)
            for path, (small, _) in found.items()
        ),
    )


def _row(path: str, answers: _Answers) -> tuple[str, ...]:
    small, large = answers
    rate = f"{len(large) / (_TURNS * _SECONDS):.0f}" if large else ""
    return (path, rate, *map(milliseconds, (median(small), percentile(small, 99), max(small))))


async def _hammer() -> dict[str, _Answers]:
    history, made = History(), tuple(rounds(_TARGETS))
    for result in made:
        history.admit(result.target)
    for _ in range(_ROUNDS):
        for result in made:
            history.add(result)
    pages = Pages(lambda _: ((), ""), lambda: None, lambda: _TARGETS, "", status=Status(history))
    found: dict[str, tuple[list[float], list[float]]] = {path: ([], []) for path in ("", *_PATHS)}
    async with serve(Door(("127.0.0.1:0",)), pages) as served, asyncio.TaskGroup() as group:
        going_on = group.create_task(_go_on(history, made))
        (address,) = served.addresses
        async with outsider(address) as crowd, outsider(address) as single:
            for path in _PATHS:
                await single.visit(Visit(path))
            for _ in range(_TURNS):
                for path, (small, large) in found.items():
                    await _ask_beside(path, crowd, single, small, large)
        going_on.cancel()
    return dict(found)


async def _ask_beside(path: str, crowd: Outsider, single: Outsider, small: list[float], large: list[float]) -> None:
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(crowd.visit(Visit(path, clients=_CLIENTS, seconds=_SECONDS))) if path else None
        await asyncio.sleep(0.5)
        small += (await single.visit(Visit("/-/healthy", clients=1, seconds=_SECONDS - 1))).seconds
        large += (await asking).seconds if asking else ()


async def _go_on(history: History, made: Sequence[RoundResult]) -> None:
    """Let rounds end, until cancelled."""
    while True:
        for result in made:
            history.add(result)
            await asyncio.sleep(_INTERVAL / _TARGETS)
