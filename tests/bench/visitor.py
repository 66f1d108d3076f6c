"""A client of the web side, told by lines of JSON: `python -m tests.bench.visitor HOST PORT`."""

import selectors
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from exporter.model.target import Address

_TIMEOUT = 30.0
_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Visit:
    """What to do.

    Attributes:
        crowd: connections to open just before, all at once, which say nothing and stay.
        leave: whether those of earlier visits are to be closed before.
        fresh: whether to connect for this request rather than to take the last one's connection.
        headers: each with its name, a colon and a line's end.
        file: where to put the body, if anywhere.
        clients: ask in a closed loop over so many connections at once, for so many seconds.
    """

    path: str
    headers: str = ""
    crowd: int = 0
    leave: bool = False
    fresh: bool = False
    file: str = ""
    clients: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of it.

    Attributes:
        seconds: of each answer, from before connecting or asking until its last byte.
        size: bytes of the last body.
    """

    seconds: tuple[float, ...]
    size: int


class Visitor:
    """Makes visits, one after another."""

    def __init__(self, address: Address) -> None:
        self._address = (address.host, address.port)
        self._line: socket.socket | None = None
        self._crowd: list[socket.socket] = []

    def visit(self, visit: Visit) -> Seen:
        """Make one; raises RuntimeError where an answer is no good one."""
        while visit.leave and self._crowd:
            self._crowd.pop().close()
        request = f"GET {visit.path} HTTP/1.1\r\nHost: x\r\n{visit.headers}\r\n".encode()
        if visit.clients:
            return self._hammer(request, visit.clients, visit.seconds)
        self._crowd += [self._connect() for _ in range(visit.crowd)]
        began = time.perf_counter()
        line = self._line
        if line is None or visit.fresh:
            line = socket.create_connection(self._address, _TIMEOUT)
        line.sendall(request)
        body = read_answer(line)
        seconds = time.perf_counter() - began
        if visit.fresh:
            line.close()
        else:
            self._line = line
        if visit.file:
            Path(visit.file).write_bytes(body)
        return Seen((seconds,), len(body))

    def _connect(self) -> socket.socket:
        """Begin to connect, and wait for nothing."""
        line = socket.socket()
        line.setblocking(False)
        line.connect_ex(self._address)
        return line

    def _hammer(self, request: bytes, clients: int, seconds: float) -> Seen:
        took: list[float] = []
        size = 0
        until = time.perf_counter() + seconds
        lines = [socket.create_connection(self._address, _TIMEOUT) for _ in range(clients)]
        asked = dict.fromkeys(lines, time.perf_counter())
        with selectors.DefaultSelector() as ready:
            for line in lines:
                ready.register(line, selectors.EVENT_READ, line)
                line.sendall(request)
            while time.perf_counter() < until:
                for key, _ in ready.select(_TIMEOUT):
                    line = key.data
                    size = len(read_answer(line))
                    took.append(time.perf_counter() - asked[line])
                    asked[line] = time.perf_counter()
                    line.sendall(request)
        for line in lines:
            line.close()
        return Seen(tuple(took), size)


def read_answer(line: socket.socket) -> bytes:
    """Read one answer to its end and return its body; raises RuntimeError where it is cut short or no good one."""
    answer = bytearray()
    while b"\r\n\r\n" not in answer:
        _receive(line, answer)
    head, _, begun = bytes(answer).partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        raise RuntimeError(head.decode())
    size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    body = bytearray(begun)
    while len(body) < size:
        _receive(line, body)
    return bytes(body)


def _receive(line: socket.socket, into: bytearray) -> None:
    chunk = line.recv(_CHUNK)
    if not chunk:
        raise RuntimeError("the server ended the connection")
    into += chunk


def serve(address: Address) -> None:
    """Make visits until the input ends."""
    visitor = Visitor(address)
    while line := sys.stdin.buffer.readline():
        seen = visitor.visit(msgspec.json.decode(line, type=Visit))
        sys.stdout.buffer.write(msgspec.json.encode(seen) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve(Address(sys.argv[1], int(sys.argv[2])))
