"""A listener on loopback that plays a script to everyone who connects."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from exporter.model.target import Address

_JOIN_SECONDS = 10.0
_CONNECT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Peer:
    """One accepted connection, as its script sees it.

    Attributes:
        sock: blocking; it is shut down from outside when the test is over, which ends every wait in it.
        over: set when the test is over, for scripts that wait without reading.
    """

    sock: socket.socket
    over: threading.Event

    def linger(self) -> None:
        """Read and forget until the client leaves or the test is over."""
        while self.sock.recv(65536):
            pass

    def hang_up(self) -> None:
        """Say that no more will come, and linger, so that nothing is left unread (Linux would send an RST for it)."""
        self.sock.shutdown(socket.SHUT_WR)
        self.linger()

    def reset(self) -> None:
        """Drop the connection with an RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def drip(self, data: bytes, interval: float) -> None:
        """Send a byte every `interval` seconds until there is none left or the test is over."""
        for byte in data:
            self.sock.sendall(bytes((byte,)))
            if self.over.wait(interval):
                return


Script = Callable[[Peer], None]
"""Plays one connection; an OSError of its own (ssl.SSLError is one) means that the client left, and is no fault."""


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _play(script: Script, peer: Peer) -> None:
    with peer.sock, suppress(OSError):
        script(peer)


def _accept(server: socket.socket, script: Script, over: threading.Event) -> None:
    playing: list[tuple[threading.Thread, socket.socket]] = []
    with suppress(OSError):  # shutdown() of the listening socket ends accept() so
        while not over.is_set():
            sock = server.accept()[0]
            thread = threading.Thread(target=_play, args=(script, Peer(sock, over)), daemon=True)
            thread.start()
            playing.append((thread, sock))
    for thread, sock in playing:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
        thread.join(_JOIN_SECONDS)


@contextmanager
def listening(script: Script, host: str = "127.0.0.1") -> Iterator[Address]:
    """Play `script` to every connection, each in a thread of its own, and give the address."""
    over = threading.Event()
    with socket.create_server((host, 0), family=_family(host)) as server:
        accepting = threading.Thread(target=_accept, args=(server, script, over), daemon=True)
        accepting.start()
        try:
            yield Address(host, server.getsockname()[1])
        finally:
            over.set()
            server.shutdown(socket.SHUT_RDWR)
            accepting.join(_JOIN_SECONDS)


@contextmanager
def closed_port(host: str = "127.0.0.1") -> Iterator[Address]:
    """Give an address at which nothing listens, kept from others while it is used."""
    with socket.socket(_family(host)) as holder:
        holder.bind((host, 0))
        yield Address(host, holder.getsockname()[1])


@contextmanager
def deaf_port(host: str = "127.0.0.1") -> Iterator[Address]:
    """Give an address whose accept queue is full, so that Linux drops every further SYN without a word."""
    with socket.socket(_family(host)) as server:
        server.bind((host, 0))
        server.listen(0)
        waiting = [_connect_if_heard(server)]
        while waiting[-1] is not None and len(waiting) < 16:
            waiting.append(_connect_if_heard(server))
        try:
            if waiting[-1] is not None:
                message = "the accept queue did not fill up"
                raise RuntimeError(message)
            yield Address(host, server.getsockname()[1])
        finally:
            for sock in waiting:
                if sock is not None:
                    sock.close()


def _connect_if_heard(server: socket.socket) -> socket.socket | None:
    try:
        return socket.create_connection(server.getsockname()[:2], _CONNECT_SECONDS)
    except TimeoutError:
        return None
