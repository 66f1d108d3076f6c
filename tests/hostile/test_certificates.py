"""Certificates that are wrong, too long, or wanted of us."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from exporter.model.failure import Reason, Stage
from exporter.model.target import Target, TlsVersion
from tests.hostile.dialling import SLACK, TIMEOUT, dial, showing
from tests.hostile.listener import Peer, listening
from tests.hostile.scripts import over_tls, server_context
from tests.servers.certificates import SERVER_NAME, Authority, Leaf, issue_self_signed

Issue = Callable[[Authority, Path, datetime], Leaf]
_DAY = timedelta(days=1)
_NAME_BYTES = 60
"""Length of each of the many names that make a certificate long."""


def _expired(authority: Authority, _folder: Path, now: datetime) -> Leaf:
    return authority.issue("expired", now=now, starts=-9 * _DAY, ends=-2 * _DAY)


def _not_yet_valid(authority: Authority, _folder: Path, now: datetime) -> Leaf:
    return authority.issue("early", now=now, starts=2 * _DAY, ends=9 * _DAY)


def _wrong_name(authority: Authority, _folder: Path, now: datetime) -> Leaf:
    return authority.issue("wrong-name", now=now, names=["other.test"])


def _self_signed(_authority: Authority, folder: Path, now: datetime) -> Leaf:
    return issue_self_signed(folder, "self-signed", now=now)


def _strange(_authority: Authority, folder: Path, now: datetime) -> Leaf:
    return Authority.create(folder, now, "Some other authority").issue("strange", now=now)


def _long(authority: Authority, kibibytes: int) -> Leaf:
    """Issue a certificate of about this size, by its many names."""
    names = [f"{number:0{_NAME_BYTES - 5}}.test" for number in range(kibibytes * 1024 // (_NAME_BYTES + 2))]
    return authority.issue(f"long-{kibibytes}", now=datetime.now(UTC), names=[SERVER_NAME, *names])


@pytest.fixture
def client_leaf(tmp_path: Path) -> Leaf:
    """A client's certificate, signed by itself, which a server can trust as it is."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "client.test")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - _DAY, now + _DAY)
    leaf = Leaf(tmp_path / "client.pem", tmp_path / "client.key", tmp_path / "client.both.pem")
    leaf.certificate_file.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    leaf.key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return leaf


@pytest.fixture
def demanding(leaf: Leaf, client_leaf: Leaf) -> ssl.SSLContext:
    """A server that talks to nobody but that client."""
    context = server_context(leaf)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(client_leaf.certificate_file)
    return context


def _linger(_tls: ssl.SSLSocket, peer: Peer) -> None:
    peer.linger()


@pytest.mark.parametrize("version", TlsVersion)
@pytest.mark.parametrize(
    ("issue", "reason"),
    [
        pytest.param(_expired, Reason.EXPIRED, id="expired"),
        pytest.param(_not_yet_valid, Reason.NOT_YET_VALID, id="not yet valid"),
        pytest.param(_wrong_name, Reason.WRONG_NAME, id="wrong name"),
        pytest.param(_self_signed, Reason.SELF_SIGNED, id="self-signed"),
        pytest.param(_strange, Reason.UNKNOWN_ISSUER, id="unknown issuer"),
    ],
)
async def test_bad_certificate(
    site: Target, authority: Authority, tmp_path: Path, issue: Issue, reason: Reason, version: TlsVersion
) -> None:
    """A certificate that does not verify is told with its reason, and the TLS facts are told all the same."""
    leaf = issue(authority, tmp_path, datetime.now(UTC))
    with listening(over_tls(server_context(leaf), _linger)) as address:
        done = await dial(site, address, version)

    failure, tls = done.handshake.verify_failure, done.handshake.tls
    shown = x509.load_pem_x509_certificate(leaf.certificate_file.read_bytes())
    assert failure is not None
    assert (failure.stage, failure.reason) == (Stage.VERIFY, reason)
    assert tls.version is version
    assert tls.certificate is not None
    assert tls.certificate.not_after == shown.not_valid_after_utc.timestamp()
    assert done.elapsed < 2 * TIMEOUT


@pytest.mark.parametrize("version", TlsVersion)
async def test_certificate_message_over_the_bound(site: Target, authority: Authority, version: TlsVersion) -> None:
    """OpenSSL reads no Certificate message over 100 KiB; that is told as what it is."""
    context = server_context(_long(authority, 101))
    with listening(over_tls(context, _linger)) as address:
        done = await dial(site, address, version)

    assert (done.failure.stage, done.failure.reason) == (Stage.HANDSHAKE, Reason.MESSAGE_TOO_LARGE)
    assert done.elapsed < SLACK


@pytest.mark.parametrize("version", TlsVersion)
async def test_long_certificate_message_passes(site: Target, authority: Authority, version: TlsVersion) -> None:
    """A Certificate message of 70 KiB is unwise and no failure, and its size is told."""
    context = server_context(_long(authority, 70))
    with listening(over_tls(context, _linger)) as address:
        done = await dial(site, address, version)

    assert done.handshake.verify_failure is None
    assert 69 * 1024 < done.handshake.tls.certificate_bytes < 72 * 1024


@pytest.mark.parametrize("http", [False, True], ids=["handshake alone", "with a request"])
@pytest.mark.parametrize(
    ("shown", "version", "reason"),
    [
        # OpenSSL's server has no better alert than handshake_failure for this in TLS 1.2 (RFC 5246 section 7.4.6).
        pytest.param(False, TlsVersion.TLS12, Reason.ALERT_HANDSHAKE_FAILURE, id="1.2, none shown"),
        pytest.param(False, TlsVersion.TLS13, Reason.ALERT_CERTIFICATE, id="1.3, none shown"),
        pytest.param(True, TlsVersion.TLS12, Reason.ALERT_CERTIFICATE, id="1.2, a stranger's shown"),
        pytest.param(True, TlsVersion.TLS13, Reason.ALERT_CERTIFICATE, id="1.3, a stranger's shown"),
    ],
)
async def test_client_certificate_wanted(
    site: Target,
    demanding: ssl.SSLContext,
    tmp_path: Path,
    shown: bool,
    version: TlsVersion,
    reason: Reason,
    http: bool,
) -> None:
    """A server that wants another certificate of us is heard, in TLS 1.3 too, where it says so after the handshake."""
    strange = issue_self_signed(tmp_path, "strange", now=datetime.now(UTC))
    asking = showing(site, strange) if shown else site
    with listening(over_tls(demanding, _linger)) as address:
        done = await dial(asking, address, version, http=http)

    assert (done.failure.stage, done.failure.reason) == (Stage.HANDSHAKE, reason)
    assert done.elapsed < SLACK


@pytest.mark.parametrize("version", TlsVersion)
async def test_wanted_client_certificate_is_shown(
    site: Target, demanding: ssl.SSLContext, client_leaf: Leaf, version: TlsVersion
) -> None:
    """With the right certificate the same server is content."""
    with listening(over_tls(demanding, _linger)) as address:
        done = await dial(showing(site, client_leaf), address, version)

    assert done.handshake.tls.version is version
