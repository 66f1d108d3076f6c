"""A handshake that asks for a stapled answer, against servers in memory."""

import ssl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire.staple import StapleClient
from exporter.wire.tls import Step
from tests.servers.certificates import SERVER_NAME, Leaf
from tests.wire.pair import Server, server_context
from tests.wire.test_messages import record, server_hello

TLS12, TLS13 = TlsVersion.TLS12, TlsVersion.TLS13
VERSIONS = [pytest.param(version, id=f"TLS {version}") for version in TlsVersion]
_PIECE = 65536


def shake(client: StapleClient, receive: Callable[[bytes], bytes], piece: int = _PIECE) -> Step:
    """Let a client shake hands with a server whose flights come in pieces of this size; gives the last step."""
    step = client.start()
    while not (step.done or step.failure):
        flight = receive(step.send)
        if not flight:
            return client.receive_eof()
        send = b""
        for start in range(0, len(flight), piece):
            step = client.receive(flight[start : start + piece])
            send += step.send
        step = replace(step, send=send)
    if step.send:
        receive(step.send)
    return step


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("piece", [_PIECE, 1], ids=["whole", "byte by byte"])
def test_nothing_stapled(leaf: Leaf, version: TlsVersion, piece: int) -> None:
    """A server that staples nothing completes the handshake, and its certificate is kept."""
    client = StapleClient(TlsSettings(), version, SERVER_NAME)
    step = shake(client, Server(server_context(leaf)).receive, piece)

    assert (step.done, step.failure) == (True, None)
    assert client.staple is None
    assert client.leaf == ssl.PEM_cert_to_DER_cert(leaf.certificate_file.read_text())


@pytest.mark.parametrize("version", VERSIONS)
def test_after_the_handshake(leaf: Leaf, version: TlsVersion) -> None:
    """What comes behind the handshake changes nothing, and the farewell is one that the server understands."""
    server = Server(server_context(leaf))
    client = StapleClient(TlsSettings(), version, SERVER_NAME)
    early = client.close()
    step = shake(client, server.receive)
    after = client.receive(b"whatever comes"), client.receive_eof()
    server.receive(client.close())
    server.tls.unwrap()  # which would want to read, had it not heard the farewell

    assert early == b""
    assert step.done
    assert after == (Step(done=True), Step(done=True))
    assert server.error is None


@pytest.mark.parametrize(
    ("name", "sni"),
    [
        pytest.param("site.test", "site.test", id="name"),
        pytest.param("site.test.", "site.test", id="name with a closing dot"),
        pytest.param("::1%lo", None, id="IPv6 literal with a zone"),
    ],
)
def test_server_name(leaf: Leaf, name: str, sni: str | None) -> None:
    """A name is sent, an address is not."""
    seen: list[str | None] = []
    context = server_context(leaf)
    context.sni_callback = lambda _tls, sent, _context: seen.append(sent)
    shake(StapleClient(TlsSettings(), TLS13, name), Server(context).receive)

    assert seen == [sni]


@pytest.mark.parametrize("version", VERSIONS)
def test_settings_are_those_of_the_target(leaf: Leaf, client_leaf: Leaf, version: TlsVersion) -> None:
    """The client certificate is shown to a server that demands one, and the protocols are offered."""
    context = server_context(leaf)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(client_leaf.certificate_file)
    context.set_alpn_protocols(["h2"])
    files = str(client_leaf.certificate_file), str(client_leaf.key_file)
    server = Server(context)
    step = shake(StapleClient(TlsSettings(True, None, None, *files, ("h2",)), version, SERVER_NAME), server.receive)
    shown = ssl.PEM_cert_to_DER_cert(client_leaf.certificate_file.read_text())

    assert step.done
    assert server.tls.getpeercert(binary_form=True) == shown
    assert server.tls.selected_alpn_protocol() == "h2"
    assert server.tls.version() == f"TLSv{version}"


@pytest.mark.parametrize("kind", ["missing", "no certificate", "key of another", "encrypted key", "no key"])
def test_client_certificate_that_cannot_be_used(tmp_path: Path, leaf: Leaf, client_leaf: Leaf, kind: str) -> None:
    """An unusable client certificate is an error of the settings, and nobody is asked for a password."""
    certificate, key, culprit = {
        "missing": (tmp_path / "nowhere.pem", None, "nowhere.pem"),
        "no certificate": (leaf.key_file, None, leaf.key_file.name),
        "key of another": (client_leaf.certificate_file, leaf.key_file, client_leaf.certificate_file.name),
        "encrypted key": (client_leaf.certificate_file, _encrypt(client_leaf, tmp_path), "encrypted.key"),
        "no key": (client_leaf.certificate_file, leaf.certificate_file, leaf.certificate_file.name),
    }[kind]
    settings = TlsSettings(cert_file=str(certificate), key_file=str(key) if key else None)

    with pytest.raises(OSError, match=culprit):
        StapleClient(settings, TLS13, SERVER_NAME)


def _encrypt(leaf: Leaf, folder: Path) -> Path:
    key = load_pem_private_key(leaf.key_file.read_bytes(), None)
    file = folder / "encrypted.key"
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    return file


@pytest.mark.parametrize("combined", [False, True], ids=["two files", "one file"])
def test_places_of_the_key(leaf: Leaf, client_leaf: Leaf, combined: bool) -> None:
    """The key may stand in the certificate's own file, as for any other handshake."""
    settings = (
        TlsSettings(cert_file=str(client_leaf.combined_file))
        if combined
        else TlsSettings(cert_file=str(client_leaf.certificate_file), key_file=str(client_leaf.key_file))
    )

    assert shake(StapleClient(settings, TLS13, SERVER_NAME), Server(server_context(leaf)).receive).done


_OLD_HELLO = record(22, server_hello().replace(b"\x03\x03", b"\x03\x02", 1))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("answer", "reason", "detail"),
    [
        pytest.param(record(21, b"\2\x28"), Reason.ALERT_HANDSHAKE_FAILURE, "handshake_failure", id="alert"),
        pytest.param(record(21, b"\2\x70"), Reason.ALERT_UNRECOGNIZED_NAME, "unrecognized_name", id="name unknown"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", Reason.NOT_TLS, "", id="HTTP"),
        pytest.param(_OLD_HELLO, Reason.ALERT_PROTOCOL_VERSION, "the server answered with TLS 1.1", id="TLS 1.1"),
        pytest.param(bytes((1 << 20) + 1), Reason.MESSAGE_TOO_LARGE, None, id="flood"),
        pytest.param(record(22, b"\x02\0\0\1x"), Reason.MALFORMED, None, id="nonsense"),
        pytest.param(b"", Reason.CLOSED, "", id="nothing"),
        pytest.param(record(22, b"\x02\0\0\x20x"), Reason.CLOSED, "", id="half a message"),
    ],
)
def test_failures(version: TlsVersion, answer: bytes, reason: Reason, detail: str | None) -> None:
    """What goes wrong is told as for any handshake, and stays so."""
    client = StapleClient(TlsSettings(), version, SERVER_NAME)
    client.start()
    step = client.receive(answer)
    last = client.receive_eof()
    failure = step.failure or last.failure
    assert failure is not None

    assert (failure.stage, failure.reason) == (Stage.HANDSHAKE, reason)
    assert detail in {None, failure.detail}
    assert last == client.receive(b"more") == Step(failure=failure)
    assert (client.close(), client.staple, client.leaf) == (b"", None, None)
    assert client.started is bool(answer)


def test_missing_client_certificate(leaf: Leaf, client_leaf: Leaf) -> None:
    """A TLS 1.2 server that wants a certificate says so by an alert."""
    context = server_context(leaf)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(client_leaf.certificate_file)
    step = shake(StapleClient(TlsSettings(), TLS12, SERVER_NAME), Server(context).receive)

    assert step.failure == Failure(Stage.HANDSHAKE, Reason.ALERT_HANDSHAKE_FAILURE, "handshake_failure")


@examples(max_examples=150, deadline=None)
@given(
    version=st.sampled_from(TlsVersion),
    answer=st.one_of(
        st.binary(max_size=60),
        st.binary(max_size=60).map(lambda content: record(22, content)),
        st.tuples(st.integers(0, 80), st.integers(0, 255)).map(
            lambda bent: _OLD_HELLO[: bent[0]] + bytes((bent[1],)) + _OLD_HELLO[bent[0] + 1 :]
        ),
    ),
)
def test_no_answer_raises(version: TlsVersion, answer: bytes) -> None:
    """Any bytes at all end in a failure of the closed list."""
    client = StapleClient(TlsSettings(), version, SERVER_NAME)
    client.start()
    client.receive(answer)
    failure = client.receive_eof().failure
    assert failure is not None

    assert failure.reason in STAGE_REASONS[failure.stage]
