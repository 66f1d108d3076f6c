"""How long real servers keep idle connections, and what they do with one when they leave."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from exporter.model.connections import End, Farewell, HeldEnd, Idle
from exporter.model.target import Address, IdleScope, ProbeSettings, Target, TlsVersion
from exporter.probe.dial import Dialler
from exporter.probe.idling import STEPS, IdleWatch
from tests.keepalive.asking import H2, offering
from tests.servers import apache, haproxy, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server

_PATIENCE = 20.0


def _idling(target: Target, bound: float, scope: IdleScope = IdleScope.TARGET) -> Target:
    return replace(target, probe=ProbeSettings(idle=scope, idle_bound=bound))


@asynccontextmanager
async def watching(target: Target, *, steps: tuple[float, ...] = STEPS, rest: float = 0.1) -> AsyncIterator[IdleWatch]:
    """Watch a target's idle connections, with all that it has for backends."""
    dialler = Dialler()
    watch = IdleWatch(target, dialler.hold, time.monotonic, steps=steps, rest=rest)
    watch.follow(target, {Address(*backend): TlsVersion.TLS13 for backend in target.backends})
    task = asyncio.get_running_loop().create_task(watch.run())
    try:
        yield watch
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        dialler.close()


async def wait_until(told: Callable[[], object], seconds: float = _PATIENCE) -> None:
    """Wait for something to come true; TimeoutError where it does not."""
    async with asyncio.timeout(seconds):
        while not told():  # noqa: ASYNC110 -- what is waited for has no event
            await asyncio.sleep(0.05)


class Ends(list[HeldEnd]):
    """The ends of a watch so far."""

    def of(self, watch: IdleWatch) -> "Ends":
        """Return them with those that came since the last time."""
        self.extend(watch.take_ends())
        return self


def _nginx(server: str) -> Callable[[Path, Address, Leaf], Server]:
    return lambda folder, address, leaf: nginx.start(folder, address, nginx.Settings(leaf=leaf, server=server))


def _haproxy(frontend: str) -> Callable[[Path, Address, Leaf], Server]:
    return lambda folder, address, leaf: haproxy.start(folder, address, haproxy.Settings(leaf=leaf, frontend=frontend))


def _apache(extra: str) -> Callable[[Path, Address, Leaf], Server]:
    return lambda folder, address, leaf: apache.start(folder, address, apache.Settings(leaf=leaf, extra=extra))


@pytest.mark.parametrize(
    ("start", "seconds"),
    [
        pytest.param(_nginx("keepalive_timeout 3s;"), 3, marks=pytest.mark.servers("nginx"), id="nginx"),
        pytest.param(_haproxy("timeout http-keep-alive 3s"), 3, marks=pytest.mark.servers("haproxy"), id="HAProxy"),
        pytest.param(_apache("KeepAliveTimeout 3"), 3, marks=pytest.mark.servers("apache2"), id="Apache"),
    ],
)
async def test_idle_timeout(
    start: Callable[[Path, Address, Leaf], Server],
    seconds: float,
    authority: Authority,
    leaf: Leaf,
    tmp_path: Path,
    ports: Ports,
) -> None:
    """An idle connection lives to the last step below the server's timeout, and dies within the step above it."""
    address = Address("127.0.0.1", ports.claim())
    server = start(tmp_path / "server", address, leaf)
    try:
        async with watching(_idling(offering(address, authority), 120.0)) as watch:
            await wait_until(lambda: watch.idles.get(address, Idle()).died is not None)
            idle, ends = watch.idles[address], watch.take_ends()
    finally:
        server.stop()

    steps = [step for step in STEPS if step < seconds]
    following = next(step for step in STEPS if step > seconds)
    assert steps[-1] <= idle.lived < seconds + 0.5
    assert idle.died is not None
    assert seconds - 0.5 <= idle.died < following
    assert (HeldEnd(address, End.IDLE_TIMEOUT),) == ends


@pytest.mark.servers("nginx")
async def test_a_long_timeout(authority: Authority, leaf: Leaf, tmp_path: Path, ports: Ports) -> None:
    """A timeout of 65 s is lived through for 60 s and found at 65, for HTTP/1.1 and HTTP/2 alike."""
    addresses = [Address("127.0.0.1", ports.claim()) for _ in range(2)]
    settings = nginx.Settings(leaf=leaf, server="keepalive_timeout 65s;")
    servers = [
        nginx.start(tmp_path / "one", addresses[0], settings),
        nginx.start(tmp_path / "two", addresses[1], replace(settings, listen="http2")),
    ]
    targets = [offering(addresses[0], authority), offering(addresses[1], authority, H2)]

    def idles(watches: list[IdleWatch]) -> list[Idle]:
        return [watch.idles.get(address, Idle()) for watch, address in zip(watches, addresses, strict=True)]

    try:
        async with contextlib.AsyncExitStack() as stack:
            enter = stack.enter_async_context
            living = [await enter(watching(_idling(target, 60.0), steps=())) for target in targets]
            dying = [await enter(watching(_idling(target, 90.0), steps=())) for target in targets]
            await wait_until(lambda: all(idle.died is not None for idle in idles(dying)), 80.0)
            lived, died = idles(living), idles(dying)
    finally:
        for server in servers:
            server.stop()

    assert all(60 <= idle.lived < 65 and idle.died is None for idle in lived)
    assert all(idle.died is not None and 64 < idle.died < 70 for idle in died)


@pytest.mark.servers("nginx")
async def test_no_death_within_the_bound(authority: Authority, leaf: Leaf, tmp_path: Path, ports: Ports) -> None:
    """Nobody is watched for longer than the bound, and who lives through it has no time of death."""
    address = Address("127.0.0.1", ports.claim())
    server = nginx.start(tmp_path / "server", address, nginx.Settings(leaf=leaf))
    try:
        async with watching(_idling(offering(address, authority), 1.5), steps=(0.5,)) as watch:
            await wait_until(lambda: watch.idles.get(address, Idle()).lived >= 1.5)
            idle = watch.idles[address]
    finally:
        server.stop()

    assert idle.died is None
    assert idle.lived < 3


@pytest.mark.servers("nginx")
async def test_closing_each_time_is_no_death(authority: Authority, leaf: Leaf, tmp_path: Path, ports: Ports) -> None:
    """Where every answer ends its connection there is no idle one, so nothing is said of how long it lives."""
    address = Address("127.0.0.1", ports.claim())
    server = nginx.start(tmp_path / "server", address, nginx.Settings(leaf=leaf, server="keepalive_timeout 0;"))
    ends = Ends()
    try:
        async with watching(_idling(offering(address, authority), 1.5), steps=(0.5,)) as watch:
            await wait_until(lambda: ends.of(watch))
            idles = watch.idles
    finally:
        server.stop()

    assert idles == {}
    assert {HeldEnd(address, End.CONNECTION_CLOSE)} == set(ends)


@pytest.mark.servers("nginx")
@pytest.mark.parametrize(
    ("ending", "farewell"),
    [
        pytest.param(signal.SIGQUIT, Farewell.DRAINED, id="drained"),
        pytest.param(signal.SIGTERM, Farewell.DROPPED, id="stopped at once"),
        pytest.param(None, Farewell.ALIVE, id="only forgotten"),
    ],
)
async def test_leaving(
    ending: signal.Signals | None,
    farewell: Farewell,
    authority: Authority,
    leaf: Leaf,
    tmp_path: Path,
    ports: Ports,
) -> None:
    """A backend that leaves its name is told by what it did with its connection; the other one has no part in it."""
    addresses = [Address("127.0.0.1", ports.claim()) for _ in range(2)]
    servers = [
        nginx.start(tmp_path / str(at), address, nginx.Settings(leaf=leaf, listen="http2"))
        for at, address in enumerate(addresses)
    ]
    target = _idling(replace(offering(addresses[0], authority, H2), backends=tuple(addresses)), 1.5, IdleScope.BACKEND)
    ends = Ends()
    try:
        async with watching(target, steps=(0.5,)) as watch:
            await wait_until(lambda: len(watch.idles) == 2)
            if ending is not None:
                os.kill(servers[0].pid, ending)
            watch.follow(target, {addresses[1]: TlsVersion.TLS13})
            await wait_until(lambda: ends.of(watch))
            left = watch.idles
    finally:
        for server in servers:
            server.stop()

    assert [farewell] == [end.farewell for end in ends]
    assert addresses[0] == ends[0].backend
    assert [addresses[1]] == list(left)
