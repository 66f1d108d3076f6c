"""Session tickets that are huge, many, late, endless, short-lived or deadly."""

import ssl
from collections.abc import Callable

import pytest

from exporter.model.connections import HttpAnswer
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Mode
from exporter.model.target import Target, TlsVersion
from tests.hostile.dialling import SLACK, TIMEOUT, dial
from tests.hostile.listener import Peer, listening
from tests.hostile.scripts import over_tls, server_context
from tests.hostile.tinytls import Connection, Identity, TinyServer
from tests.servers.certificates import Leaf

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_BOUND = 64
"""Tickets that the prober keeps of one connection."""

After = Callable[[Connection], None]


def _issue(identity: bytes, lifetime: int = 7200) -> After:
    def play(connection: Connection) -> None:
        connection.send_raw(connection.ticket(identity, lifetime))
        connection.peer.linger()

    return play


@pytest.mark.parametrize("size", [1, 200, 16 * 1024, 60 * 1024], ids=["a byte", "usual", "16 KiB", "60 KiB"])
async def test_tickets_small_and_large_resume(site: Target, identity: Identity, size: int) -> None:
    """A ticket of any sensible size is read, offered and seen to be accepted; a large one fills several records."""
    server = TinyServer(identity, _issue(b"t" * size))
    with listening(server) as address:
        first = await dial(site, address, TlsVersion.TLS13)
        second = await dial(site, address, TlsVersion.TLS13, first.sessions[0])

    assert [len(ticket.identity) for ticket in first.handshake.tls.tickets] == [size]
    assert (first.handshake.mode, second.handshake.mode) == (Mode.FULL, Mode.RESUMED)
    assert second.handshake.tls.offer_kind == "ticket"


async def test_largest_ticket_is_no_failure(site: Target, identity: Identity) -> None:
    """A ticket of 65535 bytes is legal, and more than OpenSSL can copy a session with; the handshake stands."""
    server = TinyServer(identity, _issue(b"t" * 65535))
    with listening(server) as address:
        done = await dial(site, address, TlsVersion.TLS13)
        again = await dial(site, address, TlsVersion.TLS13)

    assert done.handshake.verify_failure is None
    assert again.handshake.mode is Mode.FULL


@pytest.mark.parametrize("http", [False, True], ids=["handshake alone", "with a request"])
async def test_thousand_tickets_are_bounded(site: Target, identity: Identity, http: bool) -> None:
    """Of a thousand tickets some are kept, and the connection is no failure."""

    def play(connection: Connection) -> None:
        connection.send_raw(*(connection.ticket(b"%0200d" % number) for number in range(1000)))
        connection.receive()
        connection.send_raw(connection.data(_ANSWER))
        connection.peer.linger()

    with listening(TinyServer(identity, play)) as address:
        done = await dial(site, address, TlsVersion.TLS13, http=http)
        resumed = await dial(site, address, TlsVersion.TLS13, done.sessions[0])

    assert 1 <= len(done.sessions) <= _BOUND
    assert 1 <= len(done.handshake.tls.tickets) <= _BOUND
    assert isinstance(done.handshake.http, HttpAnswer) is http
    assert resumed.handshake.mode is Mode.RESUMED


@pytest.mark.parametrize("http", [False, True], ids=["handshake alone", "with a request"])
async def test_endless_tickets_end(site: Target, identity: Identity, http: bool) -> None:
    """A server that never stops issuing tickets takes no more than the connection's time."""

    def play(connection: Connection) -> None:
        while not connection.peer.over.is_set():
            connection.send_raw(*(connection.ticket(b"%0200d" % number) for number in range(20)))

    with listening(TinyServer(identity, play)) as address:
        done = await dial(site, address, TlsVersion.TLS13, http=http)

    assert len(done.sessions) <= _BOUND
    assert isinstance(done.outcome, Failure) or isinstance(done.outcome.http, Failure) is http
    assert done.elapsed < TIMEOUT + SLACK


async def test_stock_server_with_many_tickets(site: Target, leaf: Leaf) -> None:
    """OpenSSL's own server can be told to issue a thousand tickets too."""
    context = server_context(leaf)
    context.num_tickets = 1000

    def play(_tls: ssl.SSLSocket, peer: Peer) -> None:
        peer.linger()

    with listening(over_tls(context, play)) as address:
        done = await dial(site, address, TlsVersion.TLS13)

    assert 1 <= len(done.sessions) <= _BOUND


async def test_tickets_with_the_first_data(site: Target, identity: Identity) -> None:
    """A server that issues its ticket with its first application data, as BoringSSL's do, has issued one."""

    def play(connection: Connection) -> None:
        connection.receive()
        connection.send_raw(connection.ticket(b"late"), connection.data(_ANSWER))
        connection.peer.linger()

    with listening(TinyServer(identity, play)) as address:
        done = await dial(site, address, TlsVersion.TLS13, http=True)
        resumed = await dial(site, address, TlsVersion.TLS13, done.sessions[0], http=True)

    assert [ticket.identity for ticket in done.handshake.tls.tickets] == [b"late"]
    assert isinstance(done.handshake.http, HttpAnswer)
    assert resumed.handshake.mode is Mode.RESUMED


async def test_short_hint_is_read(site: Target, identity: Identity) -> None:
    """A lifetime hint of five seconds is told as it was sent."""
    with listening(TinyServer(identity, _issue(b"brief", lifetime=5))) as address:
        done = await dial(site, address, TlsVersion.TLS13)

    assert [ticket.lifetime for ticket in done.handshake.tls.tickets] == [5]


async def test_silence_is_no_ticket(site: Target, identity: Identity) -> None:
    """A server that issues none is waited for, a while, and is no failure."""
    with listening(TinyServer(identity, lambda connection: connection.peer.linger())) as address:
        done = await dial(site, address, TlsVersion.TLS13)

    assert done.handshake.tls.tickets == ()
    assert done.elapsed < TIMEOUT


@pytest.mark.parametrize("piece", ["half", "drip"])
async def test_unfinished_ticket_is_no_failure(site: Target, identity: Identity, piece: str) -> None:
    """A ticket that does not come to its end within the time for tickets is not there."""

    def play(connection: Connection) -> None:
        records = connection.ticket(b"t" * 200)
        if piece == "half":
            connection.send_raw(records[:100])
        else:
            connection.peer.drip(records, 0.1)
        connection.peer.linger()

    with listening(TinyServer(identity, play)) as address:
        done = await dial(site, address, TlsVersion.TLS13)

    assert done.sessions == ()
    assert done.handshake.tls.tickets == ()
    assert done.elapsed < TIMEOUT + SLACK


async def test_drip_after_the_handshake(site: Target, identity: Identity) -> None:
    """A request whose answer comes a byte at a time ends at the deadline, and the handshake stands."""

    def play(connection: Connection) -> None:
        connection.receive()
        for byte in _ANSWER:
            connection.send_raw(connection.data(bytes((byte,))))
            connection.peer.over.wait(0.1)

    with listening(TinyServer(identity, play)) as address:
        done = await dial(site, address, TlsVersion.TLS13, http=True)

    assert (done.http_failure.stage, done.http_failure.reason) == (Stage.HTTP, Reason.STALLED)
    assert done.handshake.tls.version is TlsVersion.TLS13
    assert done.elapsed < TIMEOUT + SLACK


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        pytest.param(40, Reason.ALERT_HANDSHAKE_FAILURE, id="handshake_failure"),
        pytest.param(47, Reason.ALERT_OTHER, id="illegal_parameter"),
        pytest.param(80, Reason.ALERT_INTERNAL_ERROR, id="internal_error"),
    ],
)
async def test_deadly_offer(site: Target, identity: Identity, number: int, reason: Reason) -> None:
    """A server may answer every offered ticket with a fatal alert, while it is up for everyone else."""
    server = TinyServer(identity, _issue(b"ticket"), offer_alert=number)
    with listening(server) as address:
        first = await dial(site, address, TlsVersion.TLS13)
        killed = await dial(site, address, TlsVersion.TLS13, first.sessions[0])
        last = await dial(site, address, TlsVersion.TLS13)

    assert (first.handshake.mode, last.handshake.mode) == (Mode.FULL, Mode.FULL)
    assert (killed.failure.stage, killed.failure.reason) == (Stage.HANDSHAKE, reason)


async def test_refused_offer(site: Target, identity: Identity) -> None:
    """A server that passes over the offered ticket has refused it."""
    server = TinyServer(identity, _issue(b"ticket"), accept=False)
    with listening(server) as address:
        first = await dial(site, address, TlsVersion.TLS13)
        second = await dial(site, address, TlsVersion.TLS13, first.sessions[0])

    assert second.handshake.mode is Mode.REFUSED
