"""A client over blocking sockets and the standard library's TLS: it measures, and keeps out of the way."""

import contextlib
import errno
import re
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass

from exporter.yardstick.place import Place

PATIENCE = 10.0
"""Seconds for each wait."""
_BUFFER_BYTES = 256 * 1024
_SOURCES = 200
_LENGTH = re.compile(rb"\r\nContent-Length: *(\d+)\r\n", re.IGNORECASE)
# From <linux/in.h>: a port is chosen when the peer is known, so that one can serve several peers at once.
_IP_BIND_ADDRESS_NO_PORT = 24


class AnswerError(OSError):
    """A server did not answer as it should."""


@dataclass(frozen=True, slots=True)
class Shaken:
    """How one handshake went.

    Attributes:
        seconds: from the ClientHello to the handshake's end, TCP connect left out.
        resumed: by the library's own word.
    """

    seconds: float
    resumed: bool


class Client:
    """Opens connections to loopback.

    A port stays taken for a minute after the side that used it has closed first, and a tight loop uses up all that an
    address has. So the server is let close first; and where ports run out all the same, such as after requests in
    clear, the next source address is taken, of which loopback has many.

    Attributes:
        source: the last number of the address that connections come from now, and the system's choice where it is 1.
    """

    def __init__(self) -> None:
        self.source = 1

    def shake(self, place: Place, session: ssl.SSLSession | None = None) -> Shaken:
        """Connect, shake hands, say goodbye and wait until the server has closed; no request is made.

        Raises:
            OSError: it did not come about.
        """
        with self._connect(place) as raw, _wrap(place, raw, session) as tls:
            began = time.perf_counter()
            tls.do_handshake()
            shaken = Shaken(time.perf_counter() - began, bool(tls.session_reused))
            # Reading to the end takes in the tickets: closed before that, the server would find a broken pipe.
            with contextlib.suppress(OSError):  # most servers close without a word of their own
                tls.unwrap()
            return shaken

    def take_session(self, place: Place) -> ssl.SSLSession | None:
        """Return what a full handshake and a request leave behind.

        Raises:
            OSError: it did not come about.
        """
        with self.converse(place) as conversation:
            conversation.ask(b"/")
            return conversation.session

    @contextlib.contextmanager
    def converse(self, place: Place) -> Iterator["Conversation"]:
        """Open a connection for requests, and close it.

        Raises:
            OSError: it did not come about.
        """
        with self._connect(place) as raw:
            if place.context is None:
                yield Conversation(raw, place.server_name)
                return
            with _wrap(place, raw, None) as tls:
                tls.do_handshake()
                yield Conversation(tls, place.server_name)
                with contextlib.suppress(OSError):
                    tls.unwrap()

    def _connect(self, place: Place) -> socket.socket:
        many = place.address.host.startswith("127.")
        for _ in range(_SOURCES if many else 1):
            sock = socket.socket(socket.AF_INET6 if ":" in place.address.host else socket.AF_INET, socket.SOCK_STREAM)
            try:
                sock.settimeout(PATIENCE)
                # Else a request waits for the acknowledgement of the Finished before it: 40 ms where TLS 1.2 resumes.
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self.source > 1:
                    sock.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
                    sock.bind((f"127.0.0.{self.source}", 0))
                sock.connect(place.address)
            except OSError as error:
                sock.close()
                if error.errno != errno.EADDRNOTAVAIL or not many:
                    raise
                self.source = self.source % _SOURCES + 1
            else:
                return sock
        raise OSError(errno.EADDRNOTAVAIL, f"no free port at any of {_SOURCES} source addresses")


def _wrap(place: Place, raw: socket.socket, session: ssl.SSLSession | None) -> ssl.SSLSocket:
    if place.context is None:
        raise TypeError("a handshake with a plain server")
    return place.context.wrap_socket(
        raw, server_hostname=place.server_name, session=session, do_handshake_on_connect=False
    )


class Conversation:
    """Request after request on one connection."""

    def __init__(self, connection: socket.socket, host: str) -> None:
        self._connection = connection
        self._host = host.encode()
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))

    @property
    def session(self) -> ssl.SSLSession | None:
        """The newest session, None without TLS."""
        return self._connection.session if isinstance(self._connection, ssl.SSLSocket) else None

    @property
    def cipher(self) -> str:
        """The cipher's name, "" without TLS."""
        agreed = self._connection.cipher() if isinstance(self._connection, ssl.SSLSocket) else None
        return agreed[0] if agreed else ""

    def ask(self, path: bytes) -> int:
        """Send a request, read the answer to its end, and return the bytes of its body.

        Raises:
            OSError: the connection broke, or the answer is not one with a length and status 200.
        """
        self._connection.sendall(b"GET %b HTTP/1.1\r\nHost: %b\r\n\r\n" % (path, self._host))
        head = b""
        while (end := head.find(b"\r\n\r\n")) < 0:
            head += self._receive()
        length = _LENGTH.search(head[: end + 2])
        if not head.startswith(b"HTTP/1.1 200 ") or length is None:
            raise AnswerError(f"unexpected answer: {head[:60]!r}")
        size = int(length[1])
        left = size - (len(head) - end - 4)
        while left > 0:
            left -= self._receive_some()
        return size

    def _receive(self) -> bytes:
        return bytes(self._buffer[: self._receive_some()])

    def _receive_some(self) -> int:
        count = self._connection.recv_into(self._buffer)
        if not count:
            raise AnswerError("closed amid an answer")
        return count
