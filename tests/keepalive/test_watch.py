"""What is made of held connections' ends, over a clock that tells how long they rest."""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from exporter.model.connections import End, Farewell, HeldEnd, HttpAnswer, Idle
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, Endpoint, ProbeSettings, Target, TlsVersion
from exporter.probe.held import Held
from exporter.probe.idling import IdleWatch
from exporter.probe.requests import Answered
from tests.hostile.listener import Peer, listening
from tests.hostile.scripts import over_tls, server_context
from tests.keepalive.asking import offering
from tests.keepalive.test_idle import Ends, wait_until, watching
from tests.servers.certificates import Authority, Leaf

_BACKEND = Address("192.0.2.1", 443)
_TARGET = Target("site", Endpoint("site.test", 443), "site.test")
_OK = HttpAnswer(200, "1.1", 0, 0.0, keep_alive=True)
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class _Life(Held):
    """A connection that its server closes without a word at a certain age of idleness."""

    def __init__(self, world: "_World", age: float, first: Answered) -> None:
        self.last = first
        self._world = world
        self._age = age

    @property
    def said_goodbye(self) -> bool:
        return False

    async def ask(self, patience: float) -> Answered:
        return self.last

    async def rest(self, seconds: float) -> End | None:
        await asyncio.sleep(0)
        self._world.now += min(seconds, self._age)
        return End.CLOSED if seconds > self._age else None

    async def close(self) -> None:
        pass


class _World:
    """A clock, and connections one after the other, each with its age; then there is none."""

    def __init__(self, ages: list[float], first: Answered = Answered(_OK)) -> None:  # noqa: B008 -- frozen
        self.now = 0.0
        self.over = asyncio.Event()
        self.held = 0
        self._ages = ages
        self._first = first

    async def hold(self, target: Target, backend: Address, version: TlsVersion) -> Held | Failure:
        """Give the next one."""
        if self.held == len(self._ages):
            self.over.set()
            return Failure(Stage.CONNECT, Reason.CONNECTION_REFUSED)
        self.held += 1
        return _Life(self, self._ages[self.held - 1], self._first)

    @asynccontextmanager
    async def watching(self, rest: float = 0.01) -> AsyncIterator[IdleWatch]:
        """Watch the one backend."""
        watch = IdleWatch(_TARGET, self.hold, lambda: self.now, rest=rest)
        watch.follow(_TARGET, {_BACKEND: TlsVersion.TLS13})
        task = asyncio.get_running_loop().create_task(watch.run())
        try:
            yield watch
        finally:
            task.cancel()
            await asyncio.wait({task})


@pytest.mark.parametrize(
    ("ages", "idle"),
    [
        pytest.param([65.0], Idle(60.0, 65.0), id="a timeout"),
        pytest.param([100.0, 40.0], Idle(90.0, 100.0), id="one reload"),
        pytest.param([100.0, 40.0, 70.0], Idle(90.0, 100.0), id="two reloads at different ages"),
        pytest.param([100.0, 7.0, 7.4], Idle(5.0, 7.4), id="a timeout that became shorter"),
        pytest.param([100.0, 40.0, 70.0, 25.0], Idle(20.0, 25.0), id="no life as long as before"),
        pytest.param([10.5, 100.0], Idle(90.0, 100.0), id="a longer life than any before"),
    ],
)
async def test_deaths(ages: list[float], idle: Idle) -> None:
    """A death that was not due is believed when it comes again at its age, or when none comes later any more."""
    world = _World(ages)
    async with world.watching() as watch:
        await wait_until(world.over.is_set)

        assert watch.idles[_BACKEND].lived == idle.lived
        assert watch.idles[_BACKEND].died == pytest.approx(idle.died)


async def test_own_end_is_no_hurry() -> None:
    """Where the settings' own headers end each connection, the next one is held no sooner than ever."""
    world = _World([0.0] * 3, Answered(_OK, End.OWN_LIMIT))
    async with world.watching(rest=3600.0) as watch:
        with pytest.raises(TimeoutError):
            await wait_until(lambda: world.held > 1, 1.5)

        assert watch.take_ends() == (HeldEnd(_BACKEND, End.OWN_LIMIT),)


async def test_leaving_in_silence(authority: Authority, leaf: Leaf) -> None:
    """A backend that left and takes requests without an answer is not alive: a connection to nowhere looks the same."""
    gone = threading.Event()

    def play(tls: ssl.SSLSocket, peer: Peer) -> None:
        while tls.recv(65536) and not gone.is_set():
            tls.sendall(_ANSWER)
        peer.linger()

    ends = Ends()
    with listening(over_tls(server_context(leaf), play)) as address:
        target = replace(offering(address, authority), probe=ProbeSettings(idle_bound=1.0), timeout=0.5)
        async with watching(target, steps=(0.3,)) as watch:
            await wait_until(lambda: watch.idles)
            gone.set()
            watch.follow(target, {})
            await wait_until(lambda: ends.of(watch))

    assert [Farewell.DROPPED] == [end.farewell for end in ends]


@pytest.mark.parametrize(
    ("ages", "farewells"),
    [
        pytest.param([65.0], {None, Farewell.DROPPED}, id="not known before"),
        pytest.param([65.0, 65.0], {None}, id="known before"),
    ],
)
async def test_leaving_behind_a_death(ages: list[float], farewells: set[Farewell | None]) -> None:
    """A connection that died of a timeout that was known before is no farewell of a backend that then leaves."""
    world = _World(ages)
    async with world.watching() as watch:
        await wait_until(world.over.is_set)
        watch.follow(_TARGET, {})
        await wait_until(lambda: not watch.idles)

        assert farewells == {end.farewell for end in watch.take_ends()}
