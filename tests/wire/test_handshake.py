"""A handshake between two real peers, and all that it shows."""

import gc
import ssl
import weakref
from dataclasses import replace
from hashlib import sha256

import pytest

from exporter.model.connections import RecordSizes
from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire.context import Contexts
from exporter.wire.tls import TlsClient
from tests.servers.certificates import Authority, Leaf
from tests.wire.pair import Server, meet, server_context

VERSIONS = [pytest.param(version, id=f"TLS {version}") for version in TlsVersion]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("verify", [True, False], ids=["verifying", "not verifying"])
def test_full_handshake(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion, verify: bool
) -> None:
    """A full handshake shows version, cipher, group, sizes and certificate, and that nothing was offered."""
    meeting = meet(contexts.get(settings, version, verify=verify), Server(server_context(leaf)))
    facts = meeting.facts
    assert facts.certificate is not None
    der = ssl.PEM_cert_to_DER_cert(leaf.certificate_file.read_text())

    assert facts.version is version
    assert facts.cipher == meeting.server.tls.cipher()[0]  # type: ignore[index]
    assert (facts.resumed, facts.offered, facts.offer_kind, facts.hello_retry) == (False, False, "", False)
    assert facts.round_trips == (1 if version is TlsVersion.TLS13 else 2)
    assert facts.extended_master_secret is (None if version is TlsVersion.TLS13 else True)
    assert facts.name_matches is True
    assert facts.group == "x25519"
    assert facts.certificate.fingerprint == sha256(der).digest()
    assert (facts.certificate.chain_bytes, facts.certificate.chain_count) == (len(der), 1)
    assert facts.certificate.key_type == "ecdsa-p256"
    assert "site.test" in facts.certificate.names
    assert len(der) < facts.certificate_bytes < len(der) + 32


@pytest.mark.parametrize("version", VERSIONS)
def test_bytes_are_counted_to_the_end_of_the_handshake(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion
) -> None:
    """Sizes are those of the wire, and tickets behind a TLS 1.3 handshake are no part of it."""
    server = Server(server_context(leaf))
    client = TlsClient(contexts.get(settings, version, verify=True), "site.test")
    hello = step = client.start()
    sent, received = len(step.send), 0
    while not step.done:
        flight = server.receive(step.send)
        received += len(flight)
        step = client.receive(flight)
        sent += len(step.send)

    assert client.facts.hello_bytes == len(hello.send) - 5
    assert (client.facts.sent_bytes, client.facts.received_bytes) == (sent, received - step.pending)


def test_bytes_behind_the_handshake_are_left_pending(contexts: Contexts, settings: TlsSettings, leaf: Leaf) -> None:
    """The call that completes the handshake reads no ticket; the next one does, given no more bytes."""
    server = Server(server_context(leaf))
    client = TlsClient(contexts.get(settings, TlsVersion.TLS12, verify=True), "site.test")
    step = client.receive(server.receive(client.start().send))
    flight = server.receive(step.send)
    server.tls.write(b"greeting")
    step = client.receive(flight + server.receive(b""))
    rest = client.receive(b"")

    assert (step.done, step.data, step.pending) == (True, b"", len(server.sent[-1]))
    assert (rest.data, rest.pending) == (b"greeting", 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_rsa_certificate_with_its_chain(
    contexts: Contexts, authority: Authority, settings: TlsSettings, rsa_leaf: Leaf, version: TlsVersion
) -> None:
    """The chain's sizes are summed over all certificates that the server sends."""
    chain = rsa_leaf.certificate_file.with_suffix(".chain.pem")
    chain.write_text(rsa_leaf.certificate_file.read_text() + authority.pem)
    meeting = meet(
        contexts.get(settings, version, verify=True),
        Server(server_context(Leaf(chain, rsa_leaf.key_file, rsa_leaf.combined_file))),
    )
    certificate = meeting.facts.certificate
    assert certificate is not None
    sizes = [len(ssl.PEM_cert_to_DER_cert(pem)) for pem in (rsa_leaf.certificate_file.read_text(), authority.pem)]

    assert certificate.key_type == "rsa-2048"
    assert (certificate.chain_count, certificate.chain_bytes) == (2, sum(sizes))


@pytest.mark.parametrize("version", VERSIONS)
def test_resumption_spares_a_round_trip(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion
) -> None:
    """A resumed handshake is one round trip, and shows nothing of the certificate, that it is for the name included."""
    context, server = contexts.get(settings, version, verify=True), server_context(leaf)
    facts = meet(context, Server(server), meet(context, Server(server)).sessions[0]).facts

    assert (facts.resumed, facts.round_trips) == (True, 1)
    assert (facts.certificate, facts.name_matches) == (None, None)
    assert facts.extended_master_secret is (None if version is TlsVersion.TLS13 else True)


@pytest.mark.parametrize("version", VERSIONS)
def test_certificate_for_another_name(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion
) -> None:
    """A leaf that does not hold the name is told where nobody verifies it, too."""
    context = contexts.get(settings, version, verify=False)

    assert meet(context, Server(server_context(leaf)), name="other.test").facts.name_matches is False


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("offers", "speaks", "chosen"),
    [
        pytest.param(("h2", "http/1.1"), ["http/1.1"], "http/1.1", id="the second"),
        pytest.param((), ["http/1.1"], "", id="none offered"),
        pytest.param(("h2",), [], "", id="none spoken"),
    ],
)
def test_alpn(
    contexts: Contexts,
    settings: TlsSettings,
    leaf: Leaf,
    version: TlsVersion,
    offers: tuple[str, ...],
    speaks: list[str],
    chosen: str,
) -> None:
    """The protocol is the one that the server picks of those in the settings."""
    context = server_context(leaf)
    if speaks:
        context.set_alpn_protocols(speaks)
    meeting = meet(contexts.get(replace(settings, alpn=offers), version, verify=True), Server(context))

    assert meeting.facts.alpn == chosen


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "sni"),
    [
        pytest.param("site.test", "site.test", id="name"),
        pytest.param("site.test.", "site.test", id="name with a closing dot"),
        pytest.param("127.0.0.1", None, id="IPv4 literal"),
        pytest.param("::1", None, id="IPv6 literal"),
        pytest.param("::1%lo", None, id="IPv6 literal with a zone"),
    ],
)
def test_server_name(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion, name: str, sni: str | None
) -> None:
    """A name is sent and checked, an address is checked alone."""
    seen: list[str | None] = []
    context = server_context(leaf)
    context.sni_callback = lambda _tls, sent, _context: seen.append(sent)
    meeting = meet(contexts.get(settings, version, verify=True), Server(context), name=name)

    assert meeting.facts.version is version
    assert seen == [sni]


@pytest.mark.parametrize("version", VERSIONS)
def test_group_that_must_be_asked_for(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion
) -> None:
    """In TLS 1.3 a group that was not guessed costs a HelloRetryRequest; TLS 1.2 never needs one."""
    context = server_context(leaf)
    context.set_ecdh_curve("secp384r1")
    facts = meet(contexts.get(settings, version, verify=True), Server(context)).facts

    assert facts.group == "secp384r1"
    assert facts.hello_retry is (version is TlsVersion.TLS13)
    assert facts.round_trips == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_client_certificate(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, client_leaf: Leaf, version: TlsVersion
) -> None:
    """The settings' certificate is shown to a server that demands one."""
    context = server_context(leaf)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(client_leaf.certificate_file)
    own = replace(settings, cert_file=str(client_leaf.certificate_file), key_file=str(client_leaf.key_file))
    meeting = meet(contexts.get(own, version, verify=True), Server(context))
    shown = ssl.PEM_cert_to_DER_cert(client_leaf.certificate_file.read_text())

    assert meeting.step.done
    assert meeting.server.tls.getpeercert(binary_form=True) == shown


@pytest.mark.parametrize("version", VERSIONS)
def test_data_goes_both_ways(contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion) -> None:
    """Application data of several records arrives whole, and close_notify ends both directions."""
    question, answer = b"q" * 40_000, b"a" * 50_000
    meeting = meet(contexts.get(settings, version, verify=True), Server(server_context(leaf), answer))
    reply = meeting.client.receive(meeting.server.receive(meeting.client.send(question)))
    farewell = meeting.client.receive(meeting.server.close())
    meeting.server.receive(meeting.client.close())

    assert meeting.server.received == question
    assert (reply.data, reply.failure, reply.closed) == (answer, None, False)
    assert (farewell.closed, farewell.failure) == (True, None)
    assert isinstance(meeting.server.error, ssl.SSLZeroReturnError)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("writes", "sizes"),
    [
        pytest.param([], None, id="none"),
        pytest.param([100], RecordSizes(100, 100, 1), id="one"),
        pytest.param([1300, 1400, 40_000], RecordSizes(1300, 1 << 14, 5), id="small ones first"),
        pytest.param([1 << 14, 7], RecordSizes(1 << 14, 1 << 14, 2), id="a large one first"),
    ],
)
def test_record_sizes(
    contexts: Contexts,
    settings: TlsSettings,
    leaf: Leaf,
    version: TlsVersion,
    writes: list[int],
    sizes: RecordSizes | None,
) -> None:
    """Records of application data are noted with the size of what is in them, each of them once, tickets never."""
    meeting = meet(contexts.get(settings, version, verify=True), Server(server_context(leaf)))
    before = meeting.client.take_records()
    for size in writes:
        meeting.server.tls.write(bytes(size))
    data = meeting.client.receive(meeting.server.receive(b"")).data

    assert len(data) == sum(writes)
    assert (before, meeting.client.take_records(), meeting.client.take_records()) == (None, sizes, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_reading_on_behind_our_own_close(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion
) -> None:
    """Tickets that are still under way when we say goodbye are read, and the server's goodbye is no failure."""
    server = Server(server_context(leaf))
    client = TlsClient(contexts.get(settings, version, verify=True), "site.test")
    step = client.start()
    while not step.done:
        step = client.receive(server.receive(step.send))
    flight = server.receive(step.send)
    goodbye = client.close()
    step = client.receive(flight)
    server.receive(goodbye)
    end = client.receive(server.close())

    assert goodbye
    assert step.failure is None
    assert (end.closed, end.failure) == (True, None)
    assert len(client.facts.tickets) == (2 if version is TlsVersion.TLS13 else 1)
    assert len(client.sessions) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_connection_is_freed_at_once(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion
) -> None:
    """A connection that is over leaves nothing to the garbage collector, its sessions included."""
    meeting = meet(contexts.get(settings, version, verify=True), Server(server_context(leaf)), keep=2)
    connection, sessions = weakref.ref(meeting.client._tls), meeting.sessions
    gc.disable()
    try:
        del meeting
        left = connection()
    finally:
        gc.enable()

    assert left is None
    assert sessions
