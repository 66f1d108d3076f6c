"""A chain of four certificates, and other things of a cold handshake, at real servers."""

import ssl
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from exporter.model.observation import TlsFacts
from exporter.model.target import Address, TlsSettings, TlsVersion
from exporter.wire.context import Contexts
from exporter.wire.tls import TlsClient
from tests.cold.chain import Chain
from tests.cold.talk import shake
from tests.servers import nginx
from tests.servers.certificates import SERVER_NAME
from tests.servers.ports import Ports
from tests.servers.process import find_program

VERSIONS = [pytest.param(version, id=f"TLS {version}") for version in TlsVersion]
_SECONDS = 20.0
_END = "-----END CERTIFICATE-----"


def _shown_to_openssl(address: Address, version: TlsVersion) -> list[bytes]:
    """Return the certificates, in DER form, that `openssl s_client` says it was sent."""
    command = [find_program("openssl"), "s_client", "-connect", str(address), "-servername", SERVER_NAME, "-showcerts"]
    command.append(f"-tls{version.replace('.', '_')}")
    run = subprocess.run(command, input=b"", capture_output=True, timeout=_SECONDS, check=True)
    # The leaf is printed once more behind the chain.
    chain = run.stdout.decode().partition("Server certificate")[0]
    pieces = (piece.partition("-----BEGIN") for piece in chain.split(_END)[:-1])
    return [ssl.PEM_cert_to_DER_cert(f"{begin}{pem}{_END}\n") for _, begin, pem in pieces]


def _facts(contexts: Contexts, settings: TlsSettings, version: TlsVersion, address: Address) -> TlsFacts:
    client = TlsClient(contexts.get(settings, version, verify=True), SERVER_NAME)
    with shake(address, client) as talk:
        assert talk.step.failure is None
        return client.facts


@pytest.mark.servers("nginx", "openssl")
@pytest.mark.parametrize("version", VERSIONS)
def test_chain(
    tmp_path: Path, ports: Ports, contexts: Contexts, chain: Chain, trusting: TlsSettings, version: TlsVersion
) -> None:
    """Count, bytes and fingerprint of the chain are those of what openssl sees, and all names are counted."""
    address = Address("127.0.0.1", ports.claim())
    with nginx.start(tmp_path, address, nginx.Settings(leaf=chain.leaf)):
        facts = _facts(contexts, trusting, version, address)
        shown = _shown_to_openssl(address, version)
    certificate = facts.certificate
    assert certificate is not None

    assert shown == list(chain.ders)
    assert (certificate.chain_count, certificate.chain_bytes) == (4, sum(map(len, shown)))
    assert certificate.chain == sha256(b"".join(shown)).digest()
    assert (certificate.name_count, len(certificate.names)) == (85, 85)
    assert facts.name_matches is True
    assert sum(map(len, shown)) < facts.certificate_bytes < facts.received_bytes


@pytest.mark.servers("nginx")
@pytest.mark.parametrize(
    ("version", "curve", "expected"),
    [
        pytest.param(TlsVersion.TLS13, "secp521r1", ("secp521r1", True, 2), id="1.3, another group first"),
        pytest.param(TlsVersion.TLS13, "X25519:secp521r1", ("x25519", False, 1), id="1.3, ours among them"),
        pytest.param(TlsVersion.TLS12, "secp521r1", ("secp521r1", False, 2), id="1.2"),
    ],
)
def test_group(
    tmp_path: Path,
    ports: Ports,
    contexts: Contexts,
    chain: Chain,
    trusting: TlsSettings,
    version: TlsVersion,
    curve: str,
    expected: tuple[str, bool, int],
) -> None:
    """A TLS 1.3 server whose group was not guessed asks once more, and that is one more round trip."""
    address = Address("127.0.0.1", ports.claim())
    with nginx.start(tmp_path, address, nginx.Settings(leaf=chain.leaf, server=f"ssl_ecdh_curve {curve};")):
        facts = _facts(contexts, trusting, version, address)

    assert (facts.group, facts.hello_retry, facts.round_trips) == expected


@pytest.mark.servers("nginx")
@pytest.mark.parametrize(
    ("version", "directives", "expected"),
    [
        pytest.param(TlsVersion.TLS12, "", True, id="1.2"),
        pytest.param(TlsVersion.TLS12, "ssl_conf_command Options -ExtendedMasterSecret;", False, id="1.2 without"),
        pytest.param(TlsVersion.TLS13, "", None, id="1.3"),
    ],
)
def test_extended_master_secret(
    tmp_path: Path,
    ports: Ports,
    contexts: Contexts,
    chain: Chain,
    trusting: TlsSettings,
    version: TlsVersion,
    directives: str,
    expected: bool | None,
) -> None:
    """TLS 1.2 tells whether the extended master secret was agreed on; TLS 1.3 does not know the question."""
    address = Address("127.0.0.1", ports.claim())
    with nginx.start(tmp_path, address, nginx.Settings(leaf=chain.leaf, server=directives)):
        facts = _facts(contexts, trusting, version, address)

    assert facts.extended_master_secret is expected
