"""Reload after reload while many rounds run: whoever has not changed notices nothing, and nothing is left over."""

import asyncio
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import structlog

from exporter.app.daemon import Daemon
from exporter.config.settings import Config
from exporter.discovery.dns import Resolver
from exporter.model.target import Address, Endpoint, HttpSettings, Target, TlsSettings
from exporter.web.pages import Pages
from tests.servers import nginx
from tests.servers.certificates import SERVER_NAME, Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports

_STEADY, _RELOADS = 12, 20
_PAUSE = 0.25  # seconds between two reloads; it takes the place of time that passes in operation
_PATIENCE = 20.0
_INTERVAL = 2.0
_COUNTER = re.compile(r'tlsprobe_[a-z_]+_(?:total|count|sum|bucket)\{.*target="steady-')
_TARGET = re.compile(r'[{,]target="([^"]*)"')

Series = Mapping[str, float]
"""Values by a series' name and labels, as the exposition spells them."""


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    """Give back the log's level, which belongs to the process and which a configuration sets."""
    level = logging.getLogger().level
    yield
    structlog.reset_defaults()
    logging.getLogger().setLevel(level)


def steady(site: Address, authority: Authority) -> Sequence[Target]:
    """Return the targets that stay as they are."""
    tls = TlsSettings(ca_file=str(authority.file))
    return [
        Target(
            f"steady-{number}",
            Endpoint(SERVER_NAME, site.port),
            SERVER_NAME,
            (site,),
            tls=tls,
            interval=_INTERVAL,
            timeout=1.0,
        )
        for number in range(_STEADY)
    ]


def passing(number: int, model: Target) -> Iterator[Target]:
    """Yield the targets of one configuration beside the steady ones: new, altered, renewed, and begun anew."""
    yield replace(model, name=f"new-{number}")
    yield replace(model, name="altered", labels=(("number", str(number)),), interval=_INTERVAL + number % 2)
    yield replace(model, name="asking", http=HttpSettings(path=f"/{number}", enabled=number % 3 > 0))
    yield replace(model, name="renewed", tls=replace(model.tls, content=str(number)))
    yield replace(model, name="moved", endpoint=Endpoint(f"{number}.{SERVER_NAME}", model.endpoint.port))


def read(pages: Pages) -> Series:
    """Return what is exported now."""
    body, _ = pages.render("text/plain")
    lines = (line.rpartition(" ") for line in b"".join(body).decode().splitlines() if not line.startswith("#"))
    return {series: float(value) for series, _, value in lines}


def descriptors() -> int:
    """Count the files and sockets that this process holds."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- a Path for each entry would be no use


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(_PATIENCE):
        while not condition():  # noqa: ASYNC110 -- the condition is about values that announce nothing
            await asyncio.sleep(0.2)


def falls(before: Series, after: Series) -> Series:
    """Return the counters of steady targets that went back or are gone."""
    return {key: value for key, value in before.items() if _COUNTER.match(key) and after.get(key, -1.0) < value}


def ticks(found: Series, name: str) -> float:
    """Return how many ticks of a target had their round, or were told to have gone by during one."""
    counters = ("rounds_total", "round_overruns_total")
    return sum(found[f'tlsprobe_{counter}{{target="{name}"}}'] for counter in counters)


def _fewest(found: Series, targets: Sequence[Target]) -> float:
    return min(ticks(found, target.name) for target in targets)


def following() -> set[str]:
    """Return the names of the tasks that follow targets."""
    told = {task.get_name() for task in asyncio.all_tasks()}
    return {name for name in told if name.startswith(("beat of ", "hold for "))}


@pytest.mark.servers("nginx")
async def test_reload_under_load(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """No counter of an unchanged target goes back, no tick of one is lost, and no task or descriptor is left over."""
    site = Address("127.0.0.1", ports.claim())
    targets = steady(site, authority)
    with nginx.start(tmp_path / "nginx", site, Settings(leaf=leaf)):
        files, clock = descriptors(), asyncio.get_running_loop().time
        async with asyncio.TaskGroup() as group:
            daemon = Daemon(Config(), group, Resolver().resolve)
            pages = daemon.pages(None)
            daemon.take_up(Config(targets=tuple(targets)))
            tasks = following()
            await wait_until(lambda: _fewest(read(pages), targets) >= 2)
            began, first = clock(), read(pages)
            last = first

            def caught_up(name: str) -> bool:
                return ticks(read(pages), name) - ticks(first, name) >= int((clock() - began) / _INTERVAL)

            for number in range(_RELOADS):
                daemon.take_up(Config(targets=(*targets, *passing(number, targets[0]))))
                await asyncio.sleep(_PAUSE)
                before, last = last, read(pages)
                assert falls(before, last) == {}
            # A round counts when it has ended; ticks that were lost would never be made up for.
            for target in targets:
                await wait_until(partial(caught_up, target.name))
            daemon.take_up(Config(targets=tuple(targets)))
            shown = set(_TARGET.findall("\n".join(read(pages))))
            assert shown == {target.name for target in targets}
            await wait_until(lambda: following() == tasks)
            daemon.take_up(Config())
        daemon.close()

    assert descriptors() <= files
    assert not following()
