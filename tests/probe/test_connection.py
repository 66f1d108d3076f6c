"""A TCP connection on the event loop, against real sockets."""

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import Iterator

import pytest

from exporter.model.target import Address
from exporter.probe.connection import Connection
from exporter.probe.stamps import hold_anchor
from tests.hostile.listener import closed_port, deaf_port


@pytest.fixture(params=["127.0.0.1", "::1"])
def server(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    """A listening socket."""
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    anchor = hold_anchor()
    assert anchor is not None
    with socket.create_server((request.param, 0), family=family) as listener, anchor:
        _await_stamping(anchor)
        yield listener


def _await_stamping(anchor: socket.socket) -> None:
    """Wait until the kernel stamps, which it begins to do some time after it was asked."""
    anchor.settimeout(5)
    anchor.bind(("127.0.0.1", 0))
    deadline = time.monotonic() + 5
    ancillary: list[tuple[int, int, bytes]] = []
    while not ancillary and time.monotonic() < deadline:
        anchor.sendto(b"", anchor.getsockname())
        _, ancillary, _, _ = anchor.recvmsg(1, 256)
    assert ancillary


async def opened(server: socket.socket, seconds: float = 5.0) -> tuple[Connection, socket.socket]:
    """Return both ends of a connection."""
    host, port, *_ = server.getsockname()
    connection = await Connection.open(Address(host, port), asyncio.get_running_loop().time() + seconds)
    return connection, server.accept()[0]


async def test_bytes_and_stamps(server: socket.socket) -> None:
    """What goes out comes in at the other end, and the kernel tells when it left and when the answer came."""
    connection, peer = await opened(server)
    with contextlib.closing(connection), peer:
        key = await connection.send(b"question", timed=True)
        asked = peer.recv(100)
        peer.sendall(b"answer")
        piece = await connection.receive()

        assert b"question" == asked
        assert piece is not None
        assert b"answer" == piece.data
        assert connection.stamped
        (reported, departure), *_ = connection.departures
        assert key == reported
        assert piece.stamp is not None
        assert departure < piece.stamp
        assert connection.path.established


async def test_untimed_flights_leave_no_report(server: socket.socket) -> None:
    """Only a flight that is waited for is reported, since each report wakes the loop."""
    connection, peer = await opened(server)
    with contextlib.closing(connection), peer:
        await connection.send(b"one")
        key = await connection.send(b"two", timed=True)
        await connection.send(b"three")
        peer.sendall(b"answer")
        await connection.receive()

        assert [key] == [reported for reported, _ in connection.departures]


async def test_patience_ends_before_the_deadline(server: socket.socket) -> None:
    """A wait that may end without bytes ends so, and the connection goes on."""
    connection, peer = await opened(server)
    with contextlib.closing(connection), peer:
        nothing = await connection.receive(0.01)
        peer.sendall(b"late")
        piece = await connection.receive(1.0)

        assert nothing is None
        assert piece is not None
        assert b"late" == piece.data


async def test_deadline_holds_for_all_waits_together(server: socket.socket) -> None:
    """The deadline passes once, and every later wait ends at once."""
    connection, peer = await opened(server, seconds=0.1)
    with contextlib.closing(connection), peer:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await connection.receive()


async def test_end_of_stream(server: socket.socket) -> None:
    """The peer's end is a piece without data, as often as it is asked for."""
    connection, peer = await opened(server)
    with contextlib.closing(connection):
        peer.close()
        for _ in range(2):
            piece = await connection.receive()
            assert piece is not None
            assert b"" == piece.data


async def test_reset_while_nobody_waits(server: socket.socket) -> None:
    """A reset that comes while we do something else is told at the next wait, and is no ordinary end."""
    connection, peer = await opened(server)
    with contextlib.closing(connection):
        assert await connection.receive(0.01) is None
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        await asyncio.sleep(0.01)
        with pytest.raises(ConnectionResetError):
            await connection.receive()


async def test_large_flight_waits_for_room(server: socket.socket) -> None:
    """A flight larger than the socket's buffers goes out whole."""
    connection, peer = await opened(server)
    flight = bytes(range(256)) * 65536
    with contextlib.closing(connection), peer:
        sending = asyncio.ensure_future(connection.send(flight, timed=True))  # noqa: TID251 - awaited below
        received = await asyncio.to_thread(_receive_all, peer, len(flight))
        key = await sending

    assert len(flight) - 1 == key
    assert flight == received


def _receive_all(peer: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        data += peer.recv(1 << 20)
    return bytes(data)


async def test_refused() -> None:
    """A closed port is the system's own error."""
    with closed_port() as address, pytest.raises(ConnectionRefusedError):
        await Connection.open(address, asyncio.get_running_loop().time() + 5)


async def test_no_answer_to_syn() -> None:
    """An address that drops what comes ends by the deadline."""
    with deaf_port() as address, pytest.raises(TimeoutError):
        await Connection.open(address, asyncio.get_running_loop().time() + 0.1)
