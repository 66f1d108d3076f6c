"""What the parent and its workers tell each other, as frames of MessagePack behind their length."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

import msgspec

from exporter.model.observation import Mode
from exporter.model.target import TlsVersion

HEAD_BYTES = 4

Message = TypeVar("Message")


class Loop(StrEnum):
    """What makes the next connection begin."""

    CLOSED = "closed"
    """The end of one before it: what a server sustains."""
    OPEN = "open"
    """The clock: what a wave does, which does not wait for the server."""


@dataclass(frozen=True, slots=True)
class Site:
    """The one server that all workers go to.

    Attributes:
        host: an IP literal.
        server_name: for SNI and the Host header.
        version: the only one to speak; None is the best that both sides can.
        path: of the request on each connection; None sends none, and a connection ends with its handshake.
        timeout: seconds that one connection may take.
    """

    host: str
    port: int
    server_name: str
    version: TlsVersion | None = None
    path: str | None = "/"
    timeout: float = 5.0


@dataclass(frozen=True, slots=True)
class Scouted:
    """What a worker learned before the load, or why it could not.

    Attributes:
        problem: empty where all is well.
        version, cipher: as the library names them.
        resumes: whether a second connection resumed the first one's session.
        single_use: whether a third one did not.
        most: connections that the worker can have under way at once, as far as file descriptors go.
    """

    problem: str = ""
    version: str = ""
    cipher: str = ""
    resumes: bool = False
    single_use: bool = False
    most: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One stretch of load, a worker's part of it.

    Attributes:
        mode: `resumed` offers a session on each connection.
        begin: by the monotonic clock, which all processes share, in seconds.
        warm_up, seconds: what is measured begins so long after `begin`, and lasts so long.
        clients: of the closed loop: connections that this worker keeps under way; 0 in the open one.
        rate: connections a second, over all workers; in the closed loop the most of them.
        number, workers: this worker's place among all; every so manieth connection is its own.
        background: requests a second on kept-alive connections, over all workers.
    """

    mode: Mode
    begin: float
    seconds: float
    warm_up: float = 0.0
    clients: int = 0
    rate: float
    number: int = 0
    workers: int = 1
    background: float = 0.0

    @property
    def loop(self) -> Loop:
        """Which of the two it is."""
        return Loop.CLOSED if self.clients else Loop.OPEN

    @property
    def opens(self) -> float:
        """When measuring begins."""
        return self.begin + self.warm_up

    @property
    def closes(self) -> float:
        """When it ends, and no connection begins any more."""
        return self.opens + self.seconds


@dataclass(slots=True)
class Requests:
    """The kept-alive requests beside the handshakes; `times` in seconds from when each was due to its whole answer."""

    due: int = 0
    done: int = 0
    times: bytes = b""
    failures: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """What one worker counted; lists of times are 8-byte floats, in seconds.

    Attributes:
        due: connections that were due while it was measured.
        unstarted: those of them that could not begin, because of limits of our own.
        done: connections that were done while it was measured, whenever they began.
        resumed: those of them that the library says were resumed.
        handshakes: from when a connection was due to the handshake's end.
        first_bytes: to the answer's first byte.
        lateness: from when it was due to its beginning.
        failures: by stage and reason.
        refusals: from a connection's beginning to the server's refusal.
        processor, run_delay, wall: seconds of this process while it was measured.
    """

    due: int = 0
    unstarted: int = 0
    done: int = 0
    resumed: int = 0
    handshakes: bytes = b""
    first_bytes: bytes = b""
    lateness: bytes = b""
    failures: dict[str, int] = field(default_factory=dict)
    refusals: bytes = b""
    processor: float = 0.0
    run_delay: float = 0.0
    wall: float = 0.0
    requests: Requests = field(default_factory=Requests)


def pack_times(times: "array[float]") -> bytes:
    """Return times as they are sent."""
    return times.tobytes()


def unpack_times(sent: bytes) -> "array[float]":
    """Return times as they were."""
    times = array("d")
    times.frombytes(sent)
    return times


def encode(message: Site | Scouted | Order | Tally) -> bytes:
    """Return a whole frame."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(HEAD_BYTES, "big") + body


def read(kind: type[Message], receive: Callable[[int], bytes]) -> Message:
    """Read a frame.

    Args:
        receive: returns as many bytes as it is asked for, fewer only where they end.

    Raises:
        EOFError: there is no whole frame any more.
        ValueError: the frame holds something else.
    """
    head = receive(HEAD_BYTES)
    size = int.from_bytes(head, "big")
    body = receive(size) if len(head) == HEAD_BYTES else b""
    if len(head) < HEAD_BYTES or len(body) < size:
        raise EOFError
    return msgspec.msgpack.decode(body, type=kind)
