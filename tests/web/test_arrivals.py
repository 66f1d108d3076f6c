"""How connections are let in: a few a turn, and as sockets until they speak."""

import asyncio
import errno
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

import pytest
from structlog.testing import capture_logs

from exporter.web.arrivals import Arrivals
from exporter.web.connections import Bounds, Connections
from tests.web.client import DEADLINE, connected, fetch, pages, serving, until

RESET = struct.pack("ii", 1, 0)  # linger for no time, so that closing resets the connection


class Eager(asyncio.Protocol):
    """What serves a connection, and says what came of it."""

    def __init__(self) -> None:
        self.heard = b""

    def data_received(self, data: bytes) -> None:
        """Keep what came."""
        self.heard += data


class House:
    """Connections, and all that was made to serve them."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.served: list[Eager] = []
        self.connections = Connections(self._serve, bounds or Bounds())

    def _serve(self) -> Eager:
        self.served.append(Eager())
        return self.served[-1]


@contextmanager
def listening() -> Iterator[socket.socket]:
    """Listen on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@asynccontextmanager
async def open_house(house: House, listener: socket.socket) -> AsyncIterator[None]:
    """Let connections in for as long as the block lasts."""
    arrivals = Arrivals([listener], house.connections.arrive)
    arrivals.begin()
    try:
        yield
    finally:
        arrivals.close()
        house.connections.drop_all()


def call(listener: socket.socket, stack: ExitStack) -> socket.socket:
    """Connect, which the system does without the listener's doing."""
    return stack.enter_context(socket.create_connection(listener.getsockname(), DEADLINE))


async def test_many_that_come_at_once_leave_turns_for_others() -> None:
    """Between the acceptance of any few connections whoever else waits has a turn of the loop."""
    accepted: list[socket.socket] = []
    most = before = 0
    with ExitStack() as stack:
        listener = stack.enter_context(listening())
        for _ in range(100):
            call(listener, stack)
        arrivals = Arrivals([listener], accepted.append)
        arrivals.begin()
        async with asyncio.timeout(DEADLINE):
            while len(accepted) < 100:
                await asyncio.sleep(0)
                most, before = max(most, len(accepted) - before), len(accepted)
        arrivals.close()
        for each in accepted:
            each.close()

    assert 0 < most <= 32


async def test_the_silent_cost_no_more_than_a_socket() -> None:
    """Nothing is made to serve a connection before something has come of it, and then it misses no byte."""
    house = House()
    with ExitStack() as stack:
        listener = stack.enter_context(listening())
        callers = [call(listener, stack) for _ in range(5)]
        async with open_house(house, listener):
            callers[3].sendall(b"hello")
            await until(lambda: [each.heard for each in house.served] == [b"hello"])
            callers[3].sendall(b", again")
            await until(lambda: [each.heard for each in house.served] == [b"hello, again"])


@pytest.mark.parametrize("reset", [pytest.param(False, id="closed"), pytest.param(True, id="reset")])
async def test_who_leaves_without_a_word_is_forgotten(reset: bool) -> None:
    """A caller that hangs up makes room, and nothing was ever made to serve it."""
    house = House(Bounds(connections=2))
    with ExitStack() as stack:
        listener = stack.enter_context(listening())
        async with open_house(house, listener):
            first = call(listener, stack)
            for _ in range(10):
                brief = call(listener, stack)
                await asyncio.sleep(0.01)
                if reset:
                    brief.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                brief.close()
                await asyncio.sleep(0.01)
            first.sendall(b"still here")
            await until(lambda: [each.heard for each in house.served] == [b"still here"])


async def test_dropped_in_the_moment_of_its_first_word() -> None:
    """A connection that has to go while its transport is being made is closed, and serves nobody."""
    house = House(Bounds(connections=1))
    with ExitStack() as stack:
        listener = stack.enter_context(listening())
        async with open_house(house, listener):
            first = call(listener, stack)
            await asyncio.sleep(0.05)
            # The loop sees both in one turn, in this order.
            first.sendall(b"hello")
            call(listener, stack).sendall(b"goodbye")
            await until(lambda: [each.heard for each in house.served] == [b"goodbye"])
            with pytest.raises(ConnectionResetError):
                await asyncio.to_thread(first.recv, 1)


class Exhausted(socket.socket):
    """A listening socket whose system is out of file descriptors, once."""

    accepting = 0

    def accept(self) -> tuple[socket.socket, object]:
        """Fail at the first time."""
        self.accepting += 1
        if self.accepting == 1:
            raise OSError(errno.EMFILE, "no file left")
        return super().accept()


async def test_without_file_descriptors_there_is_a_pause() -> None:
    """When the system can give no more sockets, that is told once, and who waits is let in later."""
    accepted: list[socket.socket] = []
    with ExitStack() as stack:
        listener = stack.enter_context(Exhausted())
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        call(listener, stack)
        arrivals = Arrivals([listener], accepted.append)
        with capture_logs() as lines:
            arrivals.begin()
            await until(lambda: bool(accepted))
        arrivals.close()
        accepted[0].close()

    assert [(line["event"], line["why"]) for line in lines] == [("connections have to wait", "no file left")]
    assert listener.accepting >= 2


async def test_a_crowd_at_the_door() -> None:
    """Who has something to say is served while hundreds come that have not."""
    async with serving(pages()) as address, connected(address) as kept:
        await kept.ask("/-/healthy")
        with ExitStack() as stack:
            for _ in range(500):
                line = stack.enter_context(socket.socket())
                line.setblocking(False)
                line.connect_ex((address.host, address.port))
            answers = [await kept.ask("/metrics"), await fetch(address, "/metrics")]

    assert [each.body for each in answers] == [b"up 1\n"] * 2
