"""Keeps clients from holding us up: each connection has a deadline for whatever it waits for, and all have a bound.

aiohttp closes a connection that is idle, politely: after its buffer is written, which a client that reads nothing
never lets happen. So a thin protocol stands in front of aiohttp's own, and what is late is dropped.
"""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import cast

from exporter.web.arrivals import Silence
from exporter.web.lock import TlsLock
from exporter.web.sealed import Sealed


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much clients may take of us.

    Attributes:
        connections: open at a time, over all listeners; one more drops the one that has been silent for longest.
        request_seconds: from connecting, or from the first byte of a later request, until the headers are complete.
        request_bytes: size of a request's line and headers.
        write_seconds: for taking an answer.
        idle_seconds: between two requests; longer than the usual scrape intervals, so that they reuse connections.
        pending_bytes: answers not yet taken, all connections together; beyond it the slowest reader is dropped.
    """

    connections: int = 256
    request_seconds: float = 10.0
    request_bytes: int = 32 * 1024
    write_seconds: float = 20.0
    idle_seconds: float = 150.0
    pending_bytes: int = 64 * 1024 * 1024


class _Phase(Enum):
    REQUEST = auto()
    """A request is awaited, of which nothing or a part has come."""
    WORKING = auto()
    """We are at work; the client waits for us, so that there is no deadline."""
    WRITING = auto()
    IDLE = auto()


class Connections:
    """All open connections: makes the protocol of each, and decides which has to go.

    Args:
        serve: makes what serves one.
        bounds: how much clients may take of us.
        tls: how TLS is spoken with whoever comes now, None for plain HTTP.
    """

    def __init__(
        self, serve: Callable[[], asyncio.Protocol], bounds: Bounds, tls: Callable[[], TlsLock | None] = lambda: None
    ) -> None:
        self.bounds = bounds
        self._serve = serve
        self._tls = tls
        self._open: dict[Connection, None] = {}
        self._fresh: dict[Connection, None] = {}
        self._served: dict[asyncio.Protocol, Connection] = {}
        self._greetings: set[asyncio.Task[object]] = set()

    def arrive(self, line: socket.socket) -> None:
        """Let a new connection in and begin to wait for its request, or turn it away."""
        connection = Connection(self, self._tls())
        if self._admit(connection):
            connection.listen(line)
        else:
            line.close()

    def greet(self, connection: "Connection", line: socket.socket) -> None:
        """Make a socket the connection's transport."""
        loop = asyncio.get_running_loop()
        greeting = loop.create_task(loop.connect_accepted_socket(lambda: connection, line))
        self._greetings.add(greeting)
        greeting.add_done_callback(self._greetings.discard)

    def of(self, served: object) -> "Connection | None":
        """Return the connection behind the protocol that serves it, None once it is dropped."""
        return self._served.get(served) if isinstance(served, asyncio.Protocol) else None

    def serve(self, connection: "Connection") -> asyncio.Protocol:
        """Make what serves a connection; whoever says nothing costs no more than a socket."""
        served = self._serve()
        self._served[served] = connection
        return served

    def _admit(self, connection: "Connection") -> bool:
        """Find room, at the cost of a silent connection where there are too many, or say that there is none."""
        if len(self._open) >= self.bounds.connections:
            victim = next(iter(self._fresh), None) or self._most_patient()
            if victim is None:
                return False
            victim.drop()
        self._open[connection] = self._fresh[connection] = None
        return True

    def know(self, connection: "Connection") -> None:
        """Note that a connection has asked for something."""
        self._fresh.pop(connection, None)

    def relieve(self) -> None:
        """Drop the slowest readers until what is pending is within its bound."""
        writing = sorted((each for each in self._open if each.pending), key=lambda each: each.since)
        pending = sum(each.pending for each in writing)
        for each in writing:
            if pending <= self.bounds.pending_bytes:
                return
            pending -= each.pending
            each.drop()

    def forget(self, connection: "Connection", served: asyncio.Protocol | None) -> None:
        """Strike a connection off the lists."""
        self._open.pop(connection, None)
        self._fresh.pop(connection, None)
        if served is not None:
            self._served.pop(served, None)

    def drop_all(self) -> None:
        """End every connection that is left, at once."""
        for each in list(self._open):
            each.drop()

    def _most_patient(self) -> "Connection | None":
        silent = (each for each in self._open if each.silent)
        return min(silent, key=lambda each: each.patience, default=None)


class Connection(asyncio.Protocol):
    """One client: hands everything on to the protocol that serves it, through TLS if any, and watches the time."""

    def __init__(self, all_open: Connections, lock: TlsLock | None) -> None:
        self._all = all_open
        self._served: asyncio.Protocol | None = None
        self._lock = lock
        self._sealed: Sealed | None = None
        self._inner: asyncio.Protocol | None = None
        self._loop = asyncio.get_running_loop()
        self._silence: Silence | None = None
        self._transport: asyncio.Transport | None = None
        self._over = False
        self._deadline: asyncio.TimerHandle | None = None
        self._phase = _Phase.REQUEST
        self._received = 0
        self._ended = False
        self._left: Callable[[], int] = int  # which gives 0
        self.since = self._loop.time()

    @property
    def silent(self) -> bool:
        """Whether nobody would miss an answer."""
        return self._phase in {_Phase.REQUEST, _Phase.IDLE}

    @property
    def patience(self) -> tuple[bool, float]:
        """The rank in which silent connections are dropped that have asked before: half requests, then the oldest."""
        return self._phase is _Phase.IDLE, self.since

    @property
    def pending(self) -> int:
        """Bytes of answers that the client has not taken yet."""
        line = self._sealed or self._transport
        return self._left() + line.get_write_buffer_size() if line else 0

    @contextmanager
    def working(self) -> Iterator[None]:
        """Mark the time between a complete request and its complete answer."""
        self._received = 0
        self._all.know(self)
        self._enter(_Phase.WORKING, None)
        try:
            yield
        finally:
            self._left = int
            if self._ended and self._transport is not None:
                self._enter(_Phase.WRITING, self._all.bounds.write_seconds)
                self._transport.close()
            elif self._received:  # the next request is on its way
                self._enter(_Phase.REQUEST, self._all.bounds.request_seconds)
            else:
                self._enter(_Phase.IDLE, self._all.bounds.idle_seconds)

    def writing(self, left: Callable[[], int] = int) -> None:
        """Begin the time that the client has for taking its answer.

        Args:
            left: gives how many bytes of it have yet to come to us.
        """
        self._all.relieve()
        self._left = left
        self._enter(_Phase.WRITING, self._all.bounds.write_seconds)

    def drop(self) -> None:
        """End the connection without waiting for anything to be taken."""
        self._over = True
        self._all.forget(self, self._served)
        if self._silence is not None:
            self._silence.end()
            self._silence = None
            self._enter(self._phase, None)
        elif self._transport is not None:
            self._transport.abort()

    def listen(self, line: socket.socket) -> None:
        """Wait for the first bytes to come of a socket."""
        self._silence = Silence(line, self._hear, self.drop)
        self._enter(_Phase.REQUEST, self._all.bounds.request_seconds)

    def _hear(self, line: socket.socket) -> None:
        self._silence = None
        self._all.greet(self, line)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to read; the deadline goes on that began when the connection came."""
        stream = cast("asyncio.Transport", transport)  # sockets of streams have no other
        if self._over:
            stream.abort()
            return
        self._transport = stream
        if self._lock is not None:
            self._inner = self._sealed = Sealed(self._serve, self._lock)
            self._sealed.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Count what came of a request, and begin its deadline with its first byte."""
        self._received += len(data)
        if self._phase is _Phase.IDLE:
            self._received = len(data)
            self._enter(_Phase.REQUEST, self._all.bounds.request_seconds)
        if self._phase is _Phase.REQUEST and self._received > self._all.bounds.request_bytes:
            self.drop()
        elif self._transport is not None:
            if self._inner is None:
                self._inner = self._serve()
                self._inner.connection_made(self._transport)
            self._inner.data_received(data)

    def eof_received(self) -> bool:
        """Close unless there may be an answer to come, for which a client may wait that will send no more."""
        if self._sealed is not None:
            return bool(self._sealed.eof_received())
        self._ended = True
        return self._phase in {_Phase.WORKING, _Phase.WRITING} or (self._phase is _Phase.REQUEST and self._received > 0)

    def pause_writing(self) -> None:
        """Hand on that the client reads more slowly than we write."""
        if self._inner is not None:
            self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Hand on that it caught up."""
        if self._inner is not None:
            self._inner.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Hand on that it is over."""
        self._all.forget(self, self._served)
        if self._deadline is not None:
            self._deadline.cancel()
        self._over = True
        self._transport = None
        if self._inner is not None:
            self._inner.connection_lost(exc)

    def _serve(self) -> asyncio.Protocol:
        self._served = self._all.serve(self)
        return self._served

    def _enter(self, phase: _Phase, seconds: float | None) -> None:
        self._phase = phase
        self.since = self._loop.time()
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if seconds is not None and not self._over:
            self._deadline = self._loop.call_later(seconds, self.drop)
