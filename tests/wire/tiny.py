"""The small TLS 1.3 server at the other end of a socket pair, for tickets that no library would issue."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from exporter.wire.context import ClientContext
from exporter.wire.tls import Session, Step, TlsClient
from tests.hostile.keyschedule import Kind
from tests.hostile.listener import Peer
from tests.hostile.tinytls import Connection, TinyServer
from tests.servers.certificates import SERVER_NAME

_SECONDS = 5.0
END = b"that was all"
"""The application data with which a script ends what it sends behind the handshake."""


def ticket_message(identity: bytes, lifetime: int = 7200, max_early_data: int | None = None) -> bytes:
    """Give a NewSessionTicket of TLS 1.3 that is read like any other, and resumes nothing."""
    early = b"" if max_early_data is None else struct.pack("!HHI", 42, 4, max_early_data)
    body = struct.pack("!II", lifetime, 7) + b"\x01n" + struct.pack("!H", len(identity)) + identity
    body += struct.pack("!H", len(early)) + early
    return b"\x04" + len(body).to_bytes(3, "big") + body


def handshake_records(connection: Connection, content: bytes) -> bytes:
    """Protect handshake messages as records of this connection, many messages to a record or the other way round."""
    return connection._wire.seal(Kind.HANDSHAKE, content)


@contextmanager
def _connected(server: TinyServer) -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    ours.settimeout(_SECONDS)

    def play() -> None:
        with theirs, suppress(OSError):
            server(Peer(theirs, threading.Event()))

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    try:
        yield ours
    finally:
        with suppress(OSError):
            ours.shutdown(socket.SHUT_RDWR)
        ours.close()
        thread.join(_SECONDS)


def visit(
    context: ClientContext, server: TinyServer, session: Session | None = None, *, keep: int = 1
) -> tuple[TlsClient, Step]:
    """Shake hands and read on to END, the server's close or a failure; gives the client and the last step.

    That step has all data that came, its END taken off.
    """
    client = TlsClient(context, SERVER_NAME, session, keep=keep)
    data = b""
    with _connected(server) as sock:
        step = client.start()
        while True:
            if step.send:
                sock.sendall(step.send)
            if step.done:
                step = client.receive(b"")
                continue
            data += step.data
            if step.failure or step.closed or data.endswith(END):
                return client, replace(step, data=data.removesuffix(END))
            received = sock.recv(65536)
            step = client.receive(received) if received else client.receive_eof()
