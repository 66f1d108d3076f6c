"""Reload after reload while many rounds run: whoever has not changed notices nothing of it, and nothing is left over."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from exporter.app.daemon import Daemon
from exporter.config.settings import Config
from exporter.model.target import Address, Endpoint, HttpSettings, Target, TlsSettings
from exporter.web.pages import Pages
from tests.metrics.parsed import families, series
from tests.servers import nginx
from tests.servers.certificates import SERVER_NAME, Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports

_STEADY, _RELOADS = 16, 24
_PAUSE = 0.25  # seconds between two reloads; it takes the place of time that passes in operation
_PATIENCE = 20.0

Series = Mapping[tuple[str, frozenset[tuple[str, str]]], float]


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
            interval=1.0,
            timeout=1.0,
        )
        for number in range(_STEADY)
    ]


def passing(number: int, model: Target) -> Iterator[Target]:
    """Yield the targets of one configuration beside the steady ones: new, altered, renewed, and begun anew."""
    yield replace(model, name=f"new-{number}")
    yield replace(model, name="altered", labels=(("number", str(number)),), interval=1.0 + number % 2)
    yield replace(model, name="asking", http=HttpSettings(path=f"/{number}", enabled=number % 3 > 0))
    yield replace(model, name="renewed", tls=replace(model.tls, content=str(number)))
    yield replace(model, name="moved", endpoint=Endpoint(f"{number}.{SERVER_NAME}", model.endpoint.port))


def read(pages: Pages) -> Series:
    """Return what is exported now."""
    body, _ = pages.render("text/plain")
    return series(families(body.decode()))


def descriptors() -> int:
    """Count the files and sockets that this process holds."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 -- a Path for each entry would be no use


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(_PATIENCE):
        while not condition():  # noqa: ASYNC110 -- the condition is about values that announce nothing
            await asyncio.sleep(0.05)


def falls(before: Series, after: Series) -> Series:
    """Return the counters of steady targets that went back or are gone."""
    return {
        key: value
        for key, value in before.items()
        if key[0].endswith(("_total", "_count", "_bucket", "_sum"))
        and dict(key[1]).get("target", "").startswith("steady")
        and after.get(key, -1.0) < value
    }


def ticks(found: Series, name: str) -> float:
    """Return how many ticks of a target had their round, or were told to have gone by during one."""
    labels = frozenset({("target", name)})
    return found["tlsprobe_rounds_total", labels] + found["tlsprobe_round_overruns_total", labels]


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
        files = descriptors()
        async with asyncio.TaskGroup() as group:
            daemon = Daemon(Config(), group)
            pages = daemon.pages(None)
            daemon.take_up(Config(targets=tuple(targets)))
            tasks = following()
            await wait_until(lambda: all(ticks(read(pages), target.name) >= 2 for target in targets))
            began, first = asyncio.get_running_loop().time(), read(pages)
            last = first
            for number in range(_RELOADS):
                daemon.take_up(Config(targets=(*targets, *passing(number, targets[0]))))
                await asyncio.sleep(_PAUSE)
                before, last = last, read(pages)
                assert falls(before, last) == {}
            passed = asyncio.get_running_loop().time() - began
            for target in targets:
                assert ticks(last, target.name) - ticks(first, target.name) == pytest.approx(passed, abs=2.0)
            daemon.take_up(Config(targets=tuple(targets)))
            assert {dict(labels).get("target", "steady") for _, labels in read(pages)} - {"steady"} == {
                target.name for target in targets
            }
            await wait_until(lambda: following() == tasks)
            daemon.take_up(Config())
        daemon.close()

    assert descriptors() <= files
    assert not following()
