"""A TCP connection on the event loop: one deadline for all its waits, and the kernel's stamps with each read."""

import asyncio
import contextlib
import errno
import os
import socket
from collections import deque
from typing import Any

from exporter.model.target import Address, Endpoint
from exporter.probe import stamps
from exporter.probe.stamps import PathInfo, Piece

_EARLY_PIECES = 64


class Connection:
    """An open connection; closed by whoever opened it.

    Attributes:
        path: what the kernel knew of the path right after connect().
        stamped: whether the kernel stamps our segments.
        departures: first report of each flight, by the index of its last byte.
        overdue: seconds by which the deadline's timer came late, which only our own starvation can do.
    """

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._fd = sock.fileno()  # the loop takes both, but looks a socket up by its text, at two system calls each
        self._loop = asyncio.get_running_loop()
        self._deadline = deadline
        self._timer: asyncio.TimerHandle | None = self._loop.call_at(deadline, self._expire)
        self._waiter: asyncio.Future[Piece | None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._early: deque[Piece] = deque()
        self._reading = False
        self._expired = False
        self._error: OSError | None = None
        self._sent = 0
        self._unreported = -1
        self.overdue = 0.0
        self.path = stamps.UNKNOWN_PATH
        self.stamped = False
        self.departures: list[tuple[int, int]] = []

    @classmethod
    async def open(cls, address: Address, deadline: float) -> "Connection":
        """Connect, and ask for stamps.

        Args:
            deadline: by the loop's clock, for this and all later waits.

        Raises:
            TimeoutError: the deadline passed.
            OSError: the connection did not come about.
        """
        family, name = _socket_address(address)
        sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        connection: Connection | None = None
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = cls(sock, deadline)
            await connection._connect(name)
        except BaseException:
            if connection is not None:
                connection.close()
            sock.close()
            raise
        return connection

    async def _connect(self, name: tuple[str, int] | tuple[str, int, int, int]) -> None:
        code = self._sock.connect_ex(name)
        if code not in {0, errno.EINPROGRESS}:
            raise OSError(code, os.strerror(code))
        self.path = stamps.read_path(self._sock)
        if not self.path.established:
            await self._writable()
            code = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code))
            self.path = stamps.read_path(self._sock)
        self.stamped = stamps.ask_for_stamps(self._sock)

    async def send(self, flight: bytes, *, timed: bool = False) -> int:
        """Send a flight, whole, and return the index of its last byte, by which the kernel reports it.

        Args:
            timed: whether the kernel is to report when it left.

        Raises:
            TimeoutError: the deadline passed.
            OSError: the connection broke.
        """
        timed = timed and self.stamped
        rest = memoryview(flight)
        while rest:
            try:
                rest = rest[stamps.send_stamped(self._sock, rest) if timed else self._sock.send(rest) :]
            except BlockingIOError:
                await self._writable()
        self._sent += len(flight)
        if timed:
            self._unreported = self._sent - 1
            self._collect_departures()
        return self._sent - 1

    async def receive(self, patience: float | None = None) -> Piece | None:
        """Wait for bytes, or for the end of the stream (a piece without data); None when `patience` seconds passed.

        Raises:
            TimeoutError: the connection's deadline passed.
            OSError: the connection broke.
        """
        if self._early:
            return self._early.popleft()
        if self._error is not None:
            raise self._error
        if self._expired:
            raise TimeoutError
        if not self._reading:
            self._loop.add_reader(self._fd, self._read)
            self._reading = True
        waiter: asyncio.Future[Piece | None] = self._loop.create_future()
        self._waiter = waiter
        impatience = None if patience is None else self._loop.call_later(patience, _settle, waiter)
        try:
            return await waiter
        finally:
            self._waiter = None
            if impatience is not None:
                impatience.cancel()

    def allow(self, seconds: float) -> None:
        """Set the deadline anew, for the waits to come; one that has passed stays passed."""
        if self._timer is not None and not self._expired:
            self._timer.cancel()
            self._deadline = self._loop.time() + seconds
            self._timer = self._loop.call_at(self._deadline, self._expire)

    def unread(self, data: bytes) -> None:
        """Give bytes back that belong to the next reader."""
        if data:
            self._early.appendleft(Piece(data))

    def ends(self) -> tuple[Endpoint, Endpoint]:
        """Return the socket's own address and the peer's.

        Raises:
            OSError: the connection broke.
        """
        own, peer = self._sock.getsockname(), self._sock.getpeername()
        return Endpoint(own[0], own[1]), Endpoint(peer[0], peer[1])

    def finish_sending(self) -> None:
        """Tell the peer that nothing more will come, and keep on reading."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)

    def read_path(self) -> PathInfo:
        """Ask the kernel about the path as it is now."""
        return stamps.read_path(self._sock)

    def close(self) -> None:
        """Close; a second time does nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._reading:
            self._loop.remove_reader(self._fd)
            self._reading = False
        self._sock.close()

    def _read(self) -> None:
        try:
            piece = stamps.receive(self._sock)
        except BlockingIOError:
            self._collect_departures()
            return
        except OSError as error:
            self._fail(error)
            return
        if self._unreported >= 0:
            self._collect_departures()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(piece)
        else:
            self._early.append(piece)
        if not piece.data or len(self._early) >= _EARLY_PIECES:
            self._stop_reading()

    def _collect_departures(self) -> None:
        for key, stamp in stamps.drain_departures(self._sock, self._unreported):
            self.departures.append((key, stamp))
            if key == self._unreported:
                self._unreported = -1

    def _fail(self, error: OSError) -> None:
        self._stop_reading()
        self._error = error
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)

    def _stop_reading(self) -> None:
        self._loop.remove_reader(self._fd)
        self._reading = False

    def _expire(self) -> None:
        self._expired = True
        self.overdue = self._loop.time() - self._deadline
        for future in (self._waiter, self._writer):
            if future is not None and not future.done():
                future.set_exception(TimeoutError())

    async def _writable(self) -> None:
        if self._expired:
            raise TimeoutError
        writer = self._writer = self._loop.create_future()
        self._loop.add_writer(self._fd, _settle, writer)
        try:
            await writer
        finally:
            self._writer = None
            self._loop.remove_writer(self._fd)


def _settle(future: "asyncio.Future[Any]") -> None:
    if not future.done():
        future.set_result(None)


def _socket_address(address: Address) -> tuple[int, tuple[str, int] | tuple[str, int, int, int]]:
    if ":" not in address.host:
        return socket.AF_INET, (address.host, address.port)
    if "%" not in address.host:
        return socket.AF_INET6, (address.host, address.port)
    host, _, zone = address.host.partition("%")
    return socket.AF_INET6, (host, address.port, 0, int(zone) if zone.isdecimal() else socket.if_nametoindex(zone))
