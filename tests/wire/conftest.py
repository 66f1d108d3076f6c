"""What the wire's tests share: one client context for each way of asking, and what they trust."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from exporter.model.target import TlsSettings
from exporter.wire.context import Contexts
from tests.hostile.tinytls import Identity
from tests.servers.certificates import Authority, Leaf


@pytest.fixture(scope="session")
def contexts() -> Contexts:
    """The cache, as a process has it."""
    return Contexts()


@pytest.fixture(scope="session")
def settings(authority: Authority) -> TlsSettings:
    """Settings that trust the test's root."""
    return TlsSettings(ca_file=str(authority.file))


@pytest.fixture(scope="session")
def identity(leaf: Leaf) -> Identity:
    """A good certificate, for the small server."""
    return Identity.load(leaf)


@pytest.fixture(scope="session")
def client_leaf(tmp_path_factory: pytest.TempPathFactory) -> Leaf:
    """A self-signed certificate that may serve for anything, a client's too."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "prober")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    now = datetime.now(UTC)
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    certificate = builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    folder = tmp_path_factory.mktemp("client")
    leaf = Leaf(folder / "client.pem", folder / "client.key", folder / "both.pem")
    key_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    leaf.certificate_file.write_bytes(certificate)
    leaf.key_file.write_bytes(key_pem)
    leaf.combined_file.write_bytes(certificate + key_pem)
    return leaf
