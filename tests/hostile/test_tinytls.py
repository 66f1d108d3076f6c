"""The small TLS 1.3 server against a stock client: its misbehaviour tells something only if the rest is right."""

import socket
import ssl
from collections.abc import Callable

import pytest

from exporter.model.target import Address
from tests.hostile.listener import listening
from tests.hostile.tinytls import Connection, Identity, TinyServer
from tests.servers.certificates import SERVER_NAME, Authority


def issue_and_answer(identity: bytes, lifetime: int = 7200) -> Callable[[Connection], None]:
    """Send one ticket, then answer one request with its own words and whether the handshake was resumed."""

    def play(connection: Connection) -> None:
        connection.send_raw(connection.ticket(identity, lifetime))
        asked = connection.receive()
        connection.send_raw(connection.data(asked + (b" resumed" if connection.resumed else b" full")))
        connection.send_alert(0, level=1)
        connection.peer.linger()

    return play


def client_context(authority: Authority) -> ssl.SSLContext:
    """Build a verifying stock client context."""
    context = ssl.create_default_context(cafile=authority.file)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


def ask(
    context: ssl.SSLContext, address: Address, session: ssl.SSLSession | None
) -> tuple[bytes, bool, ssl.SSLSession]:
    """Connect, say hello and read the answer; returns it, whether it was resumed, and the session then held."""
    with (
        socket.create_connection((address.host, address.port), 5) as sock,
        context.wrap_socket(sock, server_hostname=SERVER_NAME, session=session) as tls,
    ):
        tls.sendall(b"hello")
        answer = tls.recv(100)
        assert tls.session is not None
        assert tls.session_reused is not None
        return answer, tls.session_reused, tls.session


@pytest.mark.parametrize("size", [1, 200, 60 * 1024], ids=["a byte", "usual", "60 KiB"])
def test_tickets_small_and_large_resume(identity: Identity, authority: Authority, size: int) -> None:
    """A stock client gets tickets small and large and resumes with it."""
    server = TinyServer(identity, issue_and_answer(b"t" * size))
    context = client_context(authority)

    with listening(server) as address:
        first, first_resumed, session = ask(context, address, None)
        second, second_resumed, _ = ask(context, address, session)

    assert (first, first_resumed) == (b"hello full", False)
    assert (second, second_resumed) == (b"hello resumed", True)


def test_refusing_server_does_a_full_handshake(identity: Identity, authority: Authority) -> None:
    """A server that accepts no ticket goes on in full."""
    server = TinyServer(identity, issue_and_answer(b"ticket"), accept=False)
    context = client_context(authority)

    with listening(server) as address:
        session = ask(context, address, None)[2]
        answer, resumed, _ = ask(context, address, session)

    assert (answer, resumed) == (b"hello full", False)


def test_killing_server_alerts_only_offers(identity: Identity, authority: Authority) -> None:
    """A server may be up for new clients and die of every returning one."""
    server = TinyServer(identity, issue_and_answer(b"ticket"), offer_alert=80)
    context = client_context(authority)

    with listening(server) as address:
        session = ask(context, address, None)[2]
        with pytest.raises(ssl.SSLError) as caught:
            ask(context, address, session)
        answer = ask(context, address, None)[0]

    assert caught.value.reason == "TLSV1_ALERT_INTERNAL_ERROR"
    assert answer == b"hello full"
