"""Peers that do one thing to every connection, each connection in a thread of its own."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from exporter.model.target import Address
from tests.servers.certificates import Leaf

Behaviour = Callable[[socket.socket], None]
_HOST = "127.0.0.1"


@contextmanager
def listen(behave: Behaviour) -> Iterator[Address]:
    """Accept connections and let `behave` have each, until the block ends; it need not close them."""
    with socket.create_server((_HOST, 0), backlog=1024) as listener:

        def serve(accepted: socket.socket) -> None:
            with accepted, suppress(OSError):
                behave(accepted)

        def accept() -> None:
            while True:
                try:
                    accepted, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(accepted,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield Address(_HOST, listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def close_at_once(_accepted: socket.socket) -> None:
    """Say nothing and hang up."""


def keep_silent(accepted: socket.socket) -> None:
    """Read whatever comes and say nothing, until the other side has gone."""
    while accepted.recv(65536):
        pass


def speak_clear(accepted: socket.socket) -> None:
    """Answer in clear, as a web server without TLS does."""
    accepted.recv(65536)
    accepted.sendall(make_answer("400 Bad Request"))


def answer(leaf: Leaf, status: str) -> Behaviour:
    """Return one that speaks TLS, and answers any request with a status."""
    return _over(server_context(leaf), make_answer(status))


def shake_only(leaf: Leaf) -> Behaviour:
    """Return one that speaks TLS, and hangs up on any request."""
    return _over(server_context(leaf), b"")


def only_tls13(leaf: Leaf) -> Behaviour:
    """Return one that speaks no other version."""
    context = server_context(leaf)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return _over(context, make_answer("200 OK"))


def ask_certificate(leaf: Leaf) -> Behaviour:
    """Return one that speaks with nobody who shows no certificate, which TLS 1.3 tells behind the handshake."""
    context = server_context(leaf)
    context.load_verify_locations(leaf.certificate_file)
    context.verify_mode = ssl.CERT_REQUIRED
    return _over(context, make_answer("200 OK"))


def without_tickets(leaf: Leaf) -> Behaviour:
    """Return one that resumes nothing."""
    context = server_context(leaf)
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET
    return _over(context, make_answer("200 OK"))


def make_answer(status: str) -> bytes:
    """Return an answer without a body."""
    return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def _over(context: ssl.SSLContext, said: bytes) -> Behaviour:
    def behave(accepted: socket.socket) -> None:
        with context.wrap_socket(accepted, server_side=True) as tls:
            tls.recv(65536)
            tls.sendall(said)

    return behave


def server_context(leaf: Leaf) -> ssl.SSLContext:
    """Return what a server needs to speak TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(leaf.certificate_file, leaf.key_file)
    return context


class Admission:
    """A server's door that lets so many connections a second pass, and hangs up on the others."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._most = max(rate / 10, 1.0)
        self._tokens = self._most
        self._before = clock()

    def admit(self) -> bool:
        """Tell whether one more may pass now."""
        now = self._clock()
        self._tokens = min(self._most, self._tokens + (now - self._before) * self._rate)
        self._before = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
