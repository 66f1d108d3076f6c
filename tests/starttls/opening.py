"""Connections whose prelude is spoken by blocking sockets, and what Python's own TLS client then sees."""

import contextlib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from exporter.model.target import Address, Endpoint, Target
from exporter.wire.prelude import PreludeStep, prelude
from exporter.wire.prelude.farewell import last_words
from tests.servers.certificates import SERVER_NAME

_SECONDS = 5.0
_TICKET_SECONDS = 0.2
_READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Visit:
    """What a handshake behind a prelude showed.

    Attributes:
        version: as the library names it, such as "TLSv1.3".
        session: to be offered in a later visit with the same context.
    """

    version: str | None
    resumed: bool
    session: ssl.SSLSession | None = field(repr=False)


def target_at(address: Address) -> Target:
    """Return a target with nothing ahead of TLS, to be replaced from."""
    return Target(name="site", endpoint=address, server_name=SERVER_NAME, backends=(address,))


@contextmanager
def opened(target: Target, backend: Address, source: str | None = None) -> Iterator[tuple[socket.socket, PreludeStep]]:
    """Connect, and speak the target's prelude to its end or its failure.

    Args:
        target: its proxy, if it has one, is where the connection goes.
        source: an address of this machine to come from.

    Raises:
        OSError: the connection broke, or nothing came in time.
    """
    where = target.proxy or backend
    came_from = None if source is None else (source, 0)
    with socket.create_connection((where.host, where.port), _SECONDS, source_address=came_from) as connection:
        connection.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
        )  # else the hello waits for the header's receipt
        own, peer = (Endpoint(*name[:2]) for name in (connection.getsockname(), connection.getpeername()))
        course = prelude(target, backend, own, peer)
        step = course.start() if course else PreludeStep(done=True)
        while course and not step.failure:
            connection.sendall(step.send)
            if step.done:
                break
            data = connection.recv(_READ_BYTES)
            step = course.receive(data) if data else course.receive_eof()
        yield connection, step


def visit(
    target: Target,
    backend: Address,
    context: ssl.SSLContext,
    session: ssl.SSLSession | None = None,
    *,
    source: str | None = None,
    polite: bool = True,
) -> Visit:
    """Speak the prelude, shake hands, wait a little for tickets and leave.

    Args:
        polite: whether the protocol's farewell goes ahead of close_notify.

    Raises:
        AssertionError: the prelude did not lead to TLS.
        OSError: the handshake failed.
    """
    with opened(target, backend, source) as (connection, step):
        assert (True, None, b"") == (step.done, step.failure, step.pending)
        with context.wrap_socket(connection, server_hostname=SERVER_NAME, session=session) as tls:
            version = tls.version()
            tls.settimeout(_TICKET_SECONDS if version == "TLSv1.3" else 0.0)
            with contextlib.suppress(TimeoutError, ssl.SSLWantReadError):
                tls.recv(_READ_BYTES)
            seen = Visit(version, bool(tls.session_reused), tls.session)
            tls.settimeout(_SECONDS)
            with contextlib.suppress(OSError):  # the server may hang up at once
                words = last_words(target.starttls)
                if polite and words:
                    tls.sendall(words)
                    tls.recv(_READ_BYTES)
                tls.unwrap()
    return seen
