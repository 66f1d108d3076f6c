"""Driving the wire's clients over a plain blocking socket."""

import fcntl
import socket
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from exporter.model.connections import HelloSplit
from exporter.model.target import Address
from exporter.wire.split import split
from exporter.wire.tls import Step, TlsClient
from tests.servers.certificates import SERVER_NAME

_SECONDS = 10.0
_PIECE = 65536


class Client(Protocol):
    """A TLS client that is fed bytes."""

    def start(self) -> Step:
        """Return the first flight."""
        ...

    def receive(self, data: bytes) -> Step:
        """Take bytes."""
        ...

    def receive_eof(self) -> Step:
        """Take the end."""
        ...

    def close(self) -> bytes:
        """Return the farewell."""
        ...


@dataclass(frozen=True, slots=True)
class Talk:
    """A connection whose handshake ended, well or not, as `step` says."""

    sock: socket.socket
    step: Step


@contextmanager
def shake(address: Address, client: Client, how: HelloSplit | None = None) -> Iterator[Talk]:
    """Connect and shake hands, and say goodbye at the end.

    Args:
        how: the ClientHello is cut in this way.
    """
    with socket.create_connection((address.host, address.port), _SECONDS) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        hello = client.start().send
        for part in (hello,) if how is None else split(hello, how):
            sock.sendall(part)
            _await_departure(sock)
        step = client.receive(b"")
        while not (step.done or step.failure):
            received = sock.recv(_PIECE)
            step = client.receive(received) if received else client.receive_eof()
            if step.send:
                sock.sendall(step.send)
        yield Talk(sock, step)
        farewell = client.close()
        if farewell:
            sock.sendall(farewell)


def fetch(talk: Talk, client: TlsClient, path: str) -> bytes:
    """Ask for a path and read until the server closes; returns the whole answer, its head too."""
    request = f"GET {path} HTTP/1.1\r\nHost: {SERVER_NAME}\r\nConnection: close\r\n\r\n"
    talk.sock.sendall(client.send(request.encode()))
    step = client.receive(b"")
    data = step.data
    while not (step.closed or step.failure):
        received = talk.sock.recv(_PIECE)
        step = client.receive(received) if received else client.receive_eof()
        data += step.data
    return data


def _await_departure(sock: socket.socket) -> None:
    """Wait until the peer's kernel has all that was sent, so that what comes next is a segment of its own."""
    deadline = time.monotonic() + _SECONDS
    while _unacknowledged(sock):
        if time.monotonic() > deadline:
            raise TimeoutError("the peer acknowledges nothing")
        time.sleep(0.001)


def _unacknowledged(sock: socket.socket) -> int:
    """Return how many bytes the peer has not acknowledged (tcp(7), SIOCOUTQ)."""
    return int.from_bytes(fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
