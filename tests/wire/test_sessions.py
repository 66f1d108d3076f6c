"""Sessions: what is harvested, what is offered, what is resumed."""

import ssl
import time
from collections.abc import Callable

import pytest

from exporter.model.failure import Reason
from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire import tap
from exporter.wire.context import Contexts
from exporter.wire.tls import TlsClient
from tests.hostile.tinytls import Connection, Identity, TinyServer
from tests.servers.certificates import Leaf
from tests.wire.pair import Server, meet, server_context
from tests.wire.tiny import END, handshake_records, ticket_message, visit

TLS12, TLS13 = TlsVersion.TLS12, TlsVersion.TLS13
VERSIONS = [pytest.param(version, id=f"TLS {version}") for version in TlsVersion]
TAPS = [pytest.param(tap.attach, id="tap"), pytest.param(tap.absent, id="no tap")]


@pytest.mark.parametrize("attach", TAPS)
@pytest.mark.parametrize("version", VERSIONS)
def test_ticket_resumes(settings: TlsSettings, leaf: Leaf, version: TlsVersion, attach: tap.Tap) -> None:
    """A harvested session is offered, seen to be offered and accepted; a resumption shows no certificate."""
    context = Contexts(attach).get(settings, version, verify=True)
    server = server_context(leaf)
    first = meet(context, Server(server))
    second = meet(context, Server(server), first.sessions[0])

    assert first.sessions[0].ticket in first.facts.tickets
    assert (first.facts.resumed, first.facts.offered) == (False, False)
    assert (second.facts.resumed, second.facts.offered, second.facts.offer_kind) == (True, True, "ticket")
    assert second.facts.certificate is None
    assert second.facts.certificate_bytes == 0
    assert second.facts.received_bytes < first.facts.received_bytes


@pytest.mark.parametrize("version", VERSIONS)
def test_offered_ticket_is_the_harvested_one(settings: TlsSettings, leaf: Leaf, version: TlsVersion) -> None:
    """Each session carries the very ticket that its ClientHello shows."""
    context = Contexts().get(settings, version, verify=True)
    meeting = meet(context, Server(server_context(leaf)), keep=2)
    hellos = [TlsClient(context, "site.test", session).start().send for session in meeting.sessions]

    assert len(meeting.sessions) == len(meeting.facts.tickets) == (1 if version is TLS12 else 2)
    for session, hello in zip(meeting.sessions, hellos, strict=True):
        assert session.ticket is not None
        assert session.ticket.identity in hello
    assert [session.ticket for session in meeting.sessions] == list(meeting.facts.tickets)
    assert {ticket.lifetime for ticket in meeting.facts.tickets} == {7200}


@pytest.mark.parametrize(("keep", "kept"), [(0, 0), (1, 1), (2, 2), (9, 2)])
def test_no_more_sessions_are_kept_than_wanted(settings: TlsSettings, leaf: Leaf, keep: int, kept: int) -> None:
    """Every ticket is told, and as many sessions are made as were asked for."""
    meeting = meet(Contexts().get(settings, TLS13, verify=True), Server(server_context(leaf)), keep=keep)

    assert len(meeting.facts.tickets) == 2
    assert len(meeting.sessions) == kept


@pytest.mark.parametrize("version", VERSIONS)
def test_ticket_of_another_key_is_refused(settings: TlsSettings, leaf: Leaf, version: TlsVersion) -> None:
    """A server with another key does a full handshake, and the facts tell that a ticket was offered."""
    context = Contexts().get(settings, version, verify=True)
    first = meet(context, Server(server_context(leaf)))
    second = meet(context, Server(server_context(leaf)), first.sessions[0])

    assert (second.facts.resumed, second.facts.offered, second.facts.offer_kind) == (False, True, "ticket")
    assert second.facts.certificate is not None
    assert len(second.sessions) == 1


def test_session_id(settings: TlsSettings, leaf: Leaf) -> None:
    """A TLS 1.2 server without tickets gives an id, which resumes as well and leaves no new session behind."""
    context = Contexts().get(settings, TLS12, verify=True)
    server = server_context(leaf)
    server.options |= ssl.OP_NO_TICKET
    first = meet(context, Server(server))
    second = meet(context, Server(server), first.sessions[0])

    assert (first.facts.session_id, first.facts.tickets, first.sessions[0].ticket) == (True, (), None)
    assert (second.facts.resumed, second.facts.offer_kind, second.facts.session_id) == (True, "session_id", True)
    assert second.sessions == ()


def test_session_id_beside_a_ticket_is_no_offer(settings: TlsSettings, leaf: Leaf) -> None:
    """In TLS 1.2 the id that goes along with a ticket is random, and its echo gives nothing to resume from."""
    context = Contexts().get(settings, TLS12, verify=True)
    server = server_context(leaf)
    first = meet(context, Server(server))
    second = meet(context, Server(server), first.sessions[0])

    assert first.facts.session_id is False
    assert (second.facts.resumed, second.facts.offer_kind, second.facts.session_id) == (True, "ticket", False)


@pytest.mark.parametrize("attach", TAPS)
def test_server_without_any_session(settings: TlsSettings, leaf: Leaf, attach: tap.Tap) -> None:
    """A server that issues nothing leaves nothing to offer, and that is no failure."""
    server = server_context(leaf, TLS13)
    server.num_tickets = 0
    meeting = meet(Contexts(attach).get(settings, TLS13, verify=True), Server(server))

    assert (meeting.facts.tickets, meeting.sessions) == ((), ())


def test_session_of_another_context_is_an_error(settings: TlsSettings, leaf: Leaf) -> None:
    """A session is never offered through a context that it does not belong to."""
    first = meet(Contexts().get(settings, TLS13, verify=True), Server(server_context(leaf)))
    other = Contexts().get(settings, TLS13, verify=True)

    with pytest.raises(ValueError, match="another context"):
        TlsClient(other, "site.test", first.sessions[0])


def _issuing(*messages: bytes) -> Callable[[Connection], None]:
    """Send all messages in as few records as they fit in, then END."""

    def play(connection: Connection) -> None:
        connection.send_raw(handshake_records(connection, b"".join(messages)), connection.data(END))
        connection.peer.linger()

    return play


@pytest.mark.parametrize("attach", TAPS)
@pytest.mark.parametrize("size", [1, 208, 60 * 1024], ids=["a byte", "usual", "60 KiB"])
def test_tickets_of_any_size(settings: TlsSettings, identity: Identity, size: int, attach: tap.Tap) -> None:
    """A ticket that fills several records is read, and its offer fills several as well."""

    def play(connection: Connection) -> None:
        connection.send_raw(connection.ticket(b"t" * size, 60, 1024), connection.data(END))
        connection.peer.linger()

    context = Contexts(attach).get(settings, TLS13, verify=True)
    server = TinyServer(identity, play)
    first, _ = visit(context, server)
    second, _ = visit(context, server, first.sessions[0])
    ticket = first.facts.tickets[0]

    assert (ticket.identity, ticket.lifetime) == (b"t" * size, 60)
    assert ticket.max_early_data == (1024 if attach is tap.attach else None)
    assert (second.facts.resumed, second.facts.offer_kind) == (True, "ticket")
    assert second.facts.hello_bytes > size


@pytest.mark.parametrize("keep", [1, 3])
def test_tickets_in_one_record(settings: TlsSettings, identity: Identity, keep: int) -> None:
    """Tickets that share a record are told apart, and each makes a session of its own."""
    names = [b"first", b"second", b"third"]
    server = TinyServer(identity, _issuing(*(ticket_message(name) for name in names)))
    context = Contexts().get(settings, TLS13, verify=True)
    client, _ = visit(context, server, keep=keep)

    assert [ticket.identity for ticket in client.facts.tickets] == names
    assert [session.ticket.identity for session in client.sessions if session.ticket] == names[-keep:]
    for session in client.sessions:
        assert session.ticket is not None
        assert session.ticket.identity in TlsClient(context, "site.test", session).start().send


@pytest.mark.parametrize("attach", TAPS)
def test_ticket_flood_is_bounded(settings: TlsSettings, identity: Identity, attach: tap.Tap) -> None:
    """Of a thousand tickets 64 are kept, and the connection goes on."""

    def play(connection: Connection) -> None:
        for number in range(1000):
            connection.send_raw(handshake_records(connection, ticket_message(b"%016d" % number)))
        connection.send_raw(connection.data(END))
        connection.peer.linger()

    client, step = visit(Contexts(attach).get(settings, TLS13, verify=True), TinyServer(identity, play))

    assert step.failure is None
    assert len(client.facts.tickets) == 64
    assert len(client.sessions) == 1


def test_endless_tickets_end(settings: TlsSettings, identity: Identity) -> None:
    """A server that sends tickets and nothing else is cut off after 8 MiB."""

    def play(connection: Connection) -> None:
        while True:
            connection.send_raw(handshake_records(connection, ticket_message(b"t" * 60_000)))

    _, step = visit(Contexts().get(settings, TLS13, verify=True), TinyServer(identity, play))

    assert step.failure is not None
    assert step.failure.reason is Reason.MESSAGE_TOO_LARGE


def test_ticket_past_its_hint_is_not_offered(settings: TlsSettings, identity: Identity) -> None:
    """The library silently leaves out a TLS 1.3 ticket that is older than its lifetime: seen, and no refusal."""
    server = TinyServer(identity, _issuing(ticket_message(b"short-lived", lifetime=1)))
    context = Contexts().get(settings, TLS13, verify=True)
    first, _ = visit(context, server)
    session = first.sessions[0]
    received = time.time()
    # The library counts whole seconds and takes one off, so a hint of one second is over at the age of three
    # (and a moment, for the coarse clock that it reads).
    deadline = time.monotonic() + 10
    while time.time() < received + 3.1 and time.monotonic() < deadline:
        time.sleep(0.05)
    second, _ = visit(context, server, session)

    assert (second.facts.resumed, second.facts.offered, second.facts.offer_kind) == (False, False, "")
