"""How a handshake fails: alerts, certificates, versions, nonsense."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire import tap
from exporter.wire.context import Contexts
from exporter.wire.tls import Step, TlsClient
from tests.hostile.tinytls import Connection, Identity, TinyServer
from tests.servers.certificates import Authority, Leaf, issue_self_signed
from tests.wire.pair import Server, meet, server_context
from tests.wire.tiny import END, visit

TLS12, TLS13 = TlsVersion.TLS12, TlsVersion.TLS13
VERSIONS = [pytest.param(version, id=f"TLS {version}") for version in TlsVersion]
TAPS = [pytest.param(tap.attach, id="tap"), pytest.param(tap.absent, id="no tap")]

_CERTIFICATE_ALERTS = {
    41: "no_certificate",
    42: "bad_certificate",
    43: "unsupported_certificate",
    44: "certificate_revoked",
    45: "certificate_expired",
    46: "certificate_unknown",
    48: "unknown_ca",
    49: "access_denied",
    116: "certificate_required",
}
ALERTS = [
    (10, Reason.ALERT_OTHER, "unexpected_message"),
    (40, Reason.ALERT_HANDSHAKE_FAILURE, "handshake_failure"),
    *((number, Reason.ALERT_CERTIFICATE, name) for number, name in _CERTIFICATE_ALERTS.items()),
    (47, Reason.ALERT_OTHER, "illegal_parameter"),
    (70, Reason.ALERT_PROTOCOL_VERSION, "protocol_version"),
    (71, Reason.ALERT_HANDSHAKE_FAILURE, "insufficient_security"),
    (80, Reason.ALERT_INTERNAL_ERROR, "internal_error"),
    (86, Reason.ALERT_OTHER, "inappropriate_fallback"),
    (112, Reason.ALERT_UNRECOGNIZED_NAME, "unrecognized_name"),
    (115, Reason.ALERT_OTHER, "unknown_psk_identity"),
    (120, Reason.ALERT_OTHER, "no_application_protocol"),
    (200, Reason.ALERT_OTHER, "alert 200"),
]


def _answer(contexts: Contexts, settings: TlsSettings, version: TlsVersion, answer: bytes) -> tuple[TlsClient, Step]:
    client = TlsClient(contexts.get(settings, version, verify=True), "site.test")
    client.start()
    return client, client.receive(answer)


@pytest.mark.parametrize("attach", TAPS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("number", "reason", "name"), ALERTS, ids=[alert[2] for alert in ALERTS])
def test_alert(
    settings: TlsSettings, attach: tap.Tap, version: TlsVersion, number: int, reason: Reason, name: str
) -> None:
    """A fatal alert is told by its registry name, and by a reason of the closed list."""
    answer = bytes((21, 3, 3, 0, 2, 2, number))
    _, step = _answer(Contexts(attach), settings, version, answer)

    assert step.failure == Failure(Stage.HANDSHAKE, reason, name)


@pytest.mark.parametrize(
    ("number", "attach"),
    [
        *(pytest.param(number, tap.attach, id=f"{number}, tap") for number in (48, 80, 116, 120, 200)),
        *(pytest.param(number, tap.absent, id=f"{number}, no tap") for number in (48, 80, 116)),
    ],
)
def test_alert_behind_the_handshake(settings: TlsSettings, identity: Identity, attach: tap.Tap, number: int) -> None:
    """An alert with which a TLS 1.3 server ends a handshake that the client thought done is a handshake failure."""

    def play(connection: Connection) -> None:
        connection.send_alert(number)
        connection.peer.linger()

    _, step = visit(Contexts(attach).get(settings, TLS13, verify=True), TinyServer(identity, play))
    expected = [Failure(Stage.HANDSHAKE, reason, name) for known, reason, name in ALERTS if known == number]

    assert [step.failure] == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_missing_client_certificate(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, client_leaf: Leaf, version: TlsVersion
) -> None:
    """A server that wants a certificate says so within a TLS 1.2 handshake, and behind one of TLS 1.3."""
    context = server_context(leaf)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(client_leaf.certificate_file)
    meeting = meet(contexts.get(settings, version, verify=True), Server(context))
    last = meeting.after[-1]

    assert meeting.step.done is (version is TLS13)
    assert last.failure is not None
    assert (last.failure.stage, last.failure.reason) == (
        Stage.HANDSHAKE,
        Reason.ALERT_CERTIFICATE if version is TLS13 else Reason.ALERT_HANDSHAKE_FAILURE,
    )


def _bad_leaf(kind: str, folder: Path, authority: Authority) -> tuple[Leaf, Reason]:
    now = datetime.now(UTC)
    stem = kind.replace(" ", "-")
    match kind:
        case "expired":
            past = timedelta(days=-9), timedelta(days=-1)
            return authority.issue(stem, now=now, starts=past[0], ends=past[1]), Reason.EXPIRED
        case "not yet valid":
            future = timedelta(days=1), timedelta(days=9)
            return authority.issue(stem, now=now, starts=future[0], ends=future[1]), Reason.NOT_YET_VALID
        case "wrong name":
            return authority.issue(stem, now=now, names=["other.test"]), Reason.WRONG_NAME
        case "self-signed":
            return issue_self_signed(folder, stem, now=now), Reason.SELF_SIGNED
        case _:
            return Authority.create(folder, now, "Somebody").issue(stem, now=now), Reason.UNKNOWN_ISSUER


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["expired", "not yet valid", "wrong name", "self-signed", "unknown issuer"])
def test_certificate_that_does_not_verify(
    contexts: Contexts, authority: Authority, settings: TlsSettings, tmp_path: Path, version: TlsVersion, kind: str
) -> None:
    """The reason is told, the server gets an alert, and a client that does not verify has the facts all the same."""
    leaf, reason = _bad_leaf(kind, tmp_path, authority)
    context = server_context(leaf)
    strict = meet(contexts.get(settings, version, verify=True), Server(context))
    lenient = meet(contexts.get(settings, version, verify=False), Server(context))

    assert strict.step.failure is not None
    assert (strict.step.failure.stage, strict.step.failure.reason) == (Stage.VERIFY, reason)
    assert strict.step.send
    assert lenient.facts.certificate is not None
    assert lenient.facts.certificate.key_type == "ecdsa-p256"


def test_address_that_the_certificate_lacks(contexts: Contexts, settings: TlsSettings, leaf: Leaf) -> None:
    """An IP literal is checked against the certificate's addresses."""
    meeting = meet(contexts.get(settings, TLS13, verify=True), Server(server_context(leaf)), name="192.0.2.1")

    assert meeting.step.failure is not None
    assert (meeting.step.failure.stage, meeting.step.failure.reason) == (Stage.VERIFY, Reason.WRONG_NAME)


@pytest.mark.parametrize("attach", TAPS)
@pytest.mark.parametrize("version", VERSIONS)
def test_version_that_is_not_spoken(settings: TlsSettings, leaf: Leaf, version: TlsVersion, attach: tap.Tap) -> None:
    """A server that refuses the version says so by alert."""
    other = TLS13 if version is TLS12 else TLS12
    meeting = meet(Contexts(attach).get(settings, version, verify=True), Server(server_context(leaf, other)))

    assert meeting.step.failure == Failure(Stage.HANDSHAKE, Reason.ALERT_PROTOCOL_VERSION, "protocol_version")


def _server_hello(extensions: bytes = b"", version: int = 0x0303) -> bytes:
    body = version.to_bytes(2, "big") + bytes(32) + b"\0" + b"\xc0\x2b\0"
    body += len(extensions).to_bytes(2, "big") + extensions if extensions else b""
    message = b"\x02" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x03" + len(message).to_bytes(2, "big") + message


@pytest.mark.parametrize("attach", TAPS)
@pytest.mark.parametrize(
    ("asked", "answer", "words"),
    [
        pytest.param(TLS13, _server_hello(), "the server answered with TLS 1.2", id="1.2 for 1.3"),
        pytest.param(TLS13, _server_hello(version=0x0301), "the server answered with TLS 1.0", id="1.0 for 1.3"),
        pytest.param(TLS12, _server_hello(version=0x0302), "the server answered with TLS 1.1", id="1.1 for 1.2"),
        pytest.param(TLS12, _server_hello(b"\0\x2b\0\2\3\4"), "the server answered with TLS 1.3", id="1.3 for 1.2"),
    ],
)
def test_answer_in_another_version(
    settings: TlsSettings, attach: tap.Tap, asked: TlsVersion, answer: bytes, words: str
) -> None:
    """A ServerHello of another version than the one asked for counts as that version's refusal."""
    _, step = _answer(Contexts(attach), settings, asked, answer)

    assert step.failure == Failure(Stage.HANDSHAKE, Reason.ALERT_PROTOCOL_VERSION, words)
    assert step.send


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", Reason.NOT_TLS, id="plain HTTP"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", Reason.NOT_TLS, id="ssh"),
        pytest.param(b"\x16\x02\x00\x00\x10" + bytes(16), Reason.NOT_TLS, id="another major version"),
        pytest.param(b"\x63\x03\x03\x00\x10" + bytes(16), Reason.NOT_TLS, id="unknown record type"),
        pytest.param(b"\x16\x03\x03\x00\x10" + bytes(range(16)), Reason.MALFORMED, id="nonsense in a record"),
        pytest.param(b"\x17\x03\x03\x00\x10" + bytes(16), Reason.MALFORMED, id="data before the handshake"),
        pytest.param(b"\x16\x03\x03\xff\xff" + bytes(64), Reason.MALFORMED, id="a record too long"),
        pytest.param(b"\x15\x03\x03\x00\x02\x01\x00", Reason.CLOSED, id="close_notify"),
    ],
)
def test_nonsense(
    contexts: Contexts, settings: TlsSettings, version: TlsVersion, answer: bytes, reason: Reason
) -> None:
    """What is no TLS at all is told apart from TLS that makes no sense."""
    client, step = _answer(contexts, settings, version, answer)

    assert step.failure is not None
    assert (step.failure.stage, step.failure.reason) == (Stage.HANDSHAKE, reason)
    assert client.receive(b"more").failure == client.receive_eof().failure == step.failure
    assert (client.send(b"data"), client.close()) == (b"", b"")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("answer", "reason", "started"),
    [
        pytest.param(b"", Reason.CLOSED, False, id="at once"),
        pytest.param(_server_hello()[:20], Reason.CLOSED, True, id="within a message"),
        pytest.param(b"hi", Reason.NOT_TLS, True, id="behind a greeting"),
    ],
)
def test_end_before_the_handshake_is_done(
    contexts: Contexts, settings: TlsSettings, version: TlsVersion, answer: bytes, reason: Reason, started: bool
) -> None:
    """A peer that closes early is told so, and whether it had said anything."""
    client, step = _answer(contexts, settings, version, answer)
    end = client.receive_eof()

    assert step.failure is None
    assert client.started is started
    assert end.failure == Failure(Stage.HANDSHAKE, reason)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("names", "fits"), [(3_000, True), (6_000, False)], ids=["70 KiB", "over 100 KiB"])
def test_certificate_message_as_large_as_it_may_be(
    contexts: Contexts, authority: Authority, settings: TlsSettings, version: TlsVersion, names: int, fits: bool
) -> None:
    """The library takes no message above 100 KiB, and the failure says so."""
    many = ["site.test", *(f"name-{number:012}.test" for number in range(names))]
    leaf = authority.issue(f"large-{names}", now=datetime.now(UTC), names=many)
    step = meet(contexts.get(settings, version, verify=True), Server(server_context(leaf))).step

    assert step.done is fits
    assert (step.failure.reason if step.failure else None) == (None if fits else Reason.MESSAGE_TOO_LARGE)


def test_broken_record_behind_the_handshake(settings: TlsSettings, identity: Identity) -> None:
    """A record that does not decrypt is a failure, and neither data nor facts from before it are lost."""

    def play(connection: Connection) -> None:
        good, broken = connection.data(b"first"), bytearray(connection.data(b"second"))
        broken[-1] ^= 1
        connection.send_raw(good, bytes(broken), connection.data(END))
        connection.peer.linger()

    client, step = visit(Contexts().get(settings, TLS13, verify=True), TinyServer(identity, play))

    assert client.facts.certificate is not None
    assert step.data == b"first"
    assert step.failure is not None
    assert step.failure.reason is Reason.MALFORMED
    assert step.send


def test_reasons_are_of_the_closed_list() -> None:
    """Every reason in this file's tables is one that a handshake can have."""
    assert {reason for _, reason, _ in ALERTS} <= set(STAGE_REASONS[Stage.HANDSHAKE])
