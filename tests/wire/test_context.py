"""Contexts: when they are shared, and what they cannot be made from."""

import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire import tap
from exporter.wire.context import Contexts
from exporter.wire.tls import TlsClient
from tests.servers.certificates import Authority, Leaf
from tests.wire.pair import Server, meet, server_context

TLS12, TLS13 = TlsVersion.TLS12, TlsVersion.TLS13


def test_equal_settings_share_a_context(settings: TlsSettings) -> None:
    """What is asked for in the same way is the same context, and nothing else is."""
    contexts = Contexts()
    first = contexts.get(settings, TLS13, verify=True)
    others = {
        contexts.get(settings, TLS12, verify=True),
        contexts.get(settings, TLS13, verify=False),
        contexts.get(replace(settings, alpn=("h2",)), TLS13, verify=True),
    }

    assert contexts.get(replace(settings), TLS13, verify=True) is first
    assert len(others | {first}) == 4
    assert (first.settings, first.version, first.verify) == (settings, TLS13, True)


def test_trust_given_as_text(authority: Authority, leaf: Leaf) -> None:
    """A root that lives in memory alone is trusted like one in a file."""
    context = Contexts().get(TlsSettings(ca_pem=authority.pem), TLS13, verify=True)

    assert meet(context, Server(server_context(leaf))).step.done


def test_leaf_as_its_own_trust(leaf: Leaf) -> None:
    """The very certificate that a server shows may be what is trusted."""
    context = Contexts().get(TlsSettings(ca_file=str(leaf.certificate_file)), TLS13, verify=True)

    assert meet(context, Server(server_context(leaf))).step.done


def _encrypted_key(folder: Path) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    path = folder / "encrypted.key"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    return str(path)


@pytest.mark.parametrize("fault", ["no such file", "not a certificate", "key of another", "encrypted key"])
def test_unusable_files(leaf: Leaf, rsa_leaf: Leaf, tmp_path: Path, fault: str) -> None:
    """Files that cannot be used are an OSError at once, and nobody is asked for a password."""
    certificate = str(leaf.certificate_file)
    bad = {
        "no such file": TlsSettings(ca_file=str(tmp_path / "none.pem")),
        "not a certificate": TlsSettings(ca_file=str(leaf.key_file)),
        "key of another": TlsSettings(cert_file=certificate, key_file=str(rsa_leaf.key_file)),
        "encrypted key": TlsSettings(cert_file=certificate, key_file=_encrypted_key(tmp_path)),
    }

    with pytest.raises(OSError):  # noqa: PT011 - the files' and the library's errors have no more in common
        Contexts().get(bad[fault], TLS13, verify=True)


@pytest.mark.parametrize("name", ["", "." + "a" * 10, "a" * 64 + ".test"])
def test_impossible_names(contexts: Contexts, settings: TlsSettings, name: str) -> None:
    """A name that cannot be sent is an error of the caller's."""
    with pytest.raises(ValueError):  # noqa: PT011 - the library's words are its own
        TlsClient(contexts.get(settings, TLS13, verify=True), name)


def test_facts_before_the_handshake(contexts: Contexts, settings: TlsSettings) -> None:
    """There is nothing to tell before the handshake is done."""
    client = TlsClient(contexts.get(settings, TLS13, verify=True), "site.test")
    client.start()

    assert client.sessions == ()
    with pytest.raises(RuntimeError, match="not done"):
        _ = client.facts


def test_tap_on_this_python() -> None:
    """The interpreter at hand has the hook; one without it only loses detail."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    assert tap.attach(context)
    assert context.sslobject_class is tap.TappedObject


def test_what_is_lost_without_the_tap(settings: TlsSettings, leaf: Leaf) -> None:
    """Without the hook TLS 1.3 keeps tickets, group and verdict, and only sizes and early data are unknown."""
    server = server_context(leaf)
    seen = meet(Contexts().get(settings, TLS13, verify=True), Server(server)).facts
    unseen = meet(Contexts(tap.absent).get(settings, TLS13, verify=True), Server(server)).facts
    assert seen.certificate is not None

    certificate = replace(seen.certificate, chain_bytes=0, chain_count=0, chain=b"")

    assert replace(unseen, tickets=(), received_bytes=0) == replace(
        seen, tickets=(), received_bytes=0, certificate_bytes=0, certificate=certificate
    )
    assert [(len(ticket.identity), ticket.lifetime) for ticket in unseen.tickets] == [
        (len(ticket.identity), ticket.lifetime) for ticket in seen.tickets
    ]


def test_settings_that_are_out_of_use_for_a_while(tmp_path: Path, settings: TlsSettings) -> None:
    """A round that outlives its settings sees files of others; what it makes of them is gone when they come back."""
    file = tmp_path / "trusted.pem"
    assert settings.ca_file is not None
    file.write_bytes(Path(settings.ca_file).read_bytes())
    ours, others = replace(settings, ca_file=str(file), content="ours"), replace(settings, content="others")
    contexts = Contexts()
    first = contexts.get(ours, TLS13, verify=True)
    assert contexts.get(ours, TLS13, verify=True) is first
    contexts.keep({others})
    late = contexts.get(ours, TLS13, verify=True)
    contexts.keep({ours})

    assert contexts.get(ours, TLS13, verify=True) is not late
    assert contexts.get(ours, TLS13, verify=True) is contexts.get(ours, TLS13, verify=True)
