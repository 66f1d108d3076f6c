"""One visit to a server by Python's own TLS client, to see what a server does without asking the exporter."""

import contextlib
import select
import socket
import ssl
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import SERVER_NAME

_REQUEST = f"GET / HTTP/1.1\r\nHost: {SERVER_NAME}\r\nConnection: close\r\n\r\n".encode()
_VERSIONS = {TlsVersion.TLS12: ssl.TLSVersion.TLSv1_2, TlsVersion.TLS13: ssl.TLSVersion.TLSv1_3}


@dataclass(frozen=True, slots=True)
class Visit:
    """What a visit showed.

    Attributes:
        version: as the library names it, such as "TLSv1.3".
        status: of the answer to GET /; None where no request was sent.
        session: to be offered in a later visit with the same context; None where there is none.
    """

    version: str | None
    resumed: bool
    status: int | None
    session: ssl.SSLSession | None = field(repr=False)


def trust(authority_file: Path, version: TlsVersion) -> ssl.SSLContext:
    """Return a context that trusts this authority alone and speaks this version alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(authority_file)
    context.minimum_version = context.maximum_version = _VERSIONS[version]
    return context


def answers(address: Address) -> bool:
    """Tell whether a request is answered by 200 over TLS, whatever the certificate is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        return visit(address, context).status == HTTPStatus.OK
    except OSError:
        return False


def visit(
    address: Address,
    context: ssl.SSLContext,
    session: ssl.SSLSession | None = None,
    *,
    http: bool = True,
    seconds: float = 5.0,
) -> Visit:
    """Shake hands, send one request and read until the server closes, so that every ticket has come.

    Args:
        http: without it no request is sent, and the visit ends with the first ticket.
        seconds: for each wait.

    Raises:
        OSError: anything else happened (an ssl.SSLError is one, too), or nothing came in time.
    """
    with (
        socket.create_connection((address.host, address.port), seconds) as connection,
        context.wrap_socket(connection, server_hostname=SERVER_NAME, session=session) as tls,
    ):
        version = tls.version()  # nothing tells it any more once a server has hung up without close_notify
        status = None
        if http:
            status = _request(tls)
        else:
            _await_ticket(tls, seconds)
        seen = Visit(version, bool(tls.session_reused), status, tls.session)
        with contextlib.suppress(OSError):  # a server need not wait for our close_notify
            tls.unwrap()
    return seen


def _request(tls: ssl.SSLSocket) -> int:
    tls.sendall(_REQUEST)
    answer = b"".join(iter(lambda: tls.recv(65536), b""))
    return int(answer.split(None, 2)[1])


def _await_ticket(tls: ssl.SSLSocket, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    tls.setblocking(False)
    while tls.session is None or not tls.session.has_ticket:
        if not select.select([tls], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError("no ticket came")
        with contextlib.suppress(ssl.SSLWantReadError):
            tls.recv(65536)
    tls.setblocking(True)
