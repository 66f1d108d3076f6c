"""Reading and writing on one accepted connection, with as little between us and the TLS library as there can be."""

import socket
import ssl
from collections.abc import Callable
from typing import NamedTuple


def _say_nothing() -> None:
    """Plain HTTP has no farewell of its own."""


class Line(NamedTuple):
    """How to read and write; both block, and raise OSError where the peer is gone.

    Attributes:
        read: returns at most so many bytes, none at the peer's end.
        write: writes all.
        farewell: tells the peer that nothing more comes, beneath HTTP and above TCP.
    """

    read: Callable[[int], bytes]
    write: Callable[[bytes], object]
    farewell: Callable[[], object] = _say_nothing


def shake(context: ssl.SSLContext, raw: socket.socket) -> Line:
    """Shake hands as the server; raise OSError (ssl.SSLError among them) where it fails.

    SSLSocket would be a second socket around the same library object, and make a tenth of what a handshake costs.
    """
    tls = context._wrap_socket(raw, server_side=True)  # type: ignore[attr-defined]
    tls.do_handshake()
    return Line(tls.read, tls.write, tls.shutdown)
