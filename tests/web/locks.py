"""Web configuration files, and what clients of a locked door carry."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bcrypt import gensalt, hashpw
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.servers.certificates import Leaf

PASSWORD = "correct horse"
HASH = hashpw(PASSWORD.encode(), gensalt(4)).decode()
"""The least costly that there is, so that tests do not wait for it."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A self-signed certificate of a client, which is its own authority, and its key."""

    certificate_file: Path
    key_file: Path


def identity(folder: Path, name: str) -> Identity:
    """Make a client's certificate with one name of each kind."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    names: list[x509.GeneralName] = [
        x509.DNSName(f"{name}.test"),
        x509.RFC822Name(f"{name}@site.test"),
        x509.UniformResourceIdentifier(f"spiffe://site.test/{name}"),
        x509.IPAddress(ipaddress.ip_address("2001:db8::1")),
    ]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    made = Identity(folder / f"{name}.pem", folder / f"{name}.key")
    made.certificate_file.write_bytes(certificate.public_bytes(Encoding.PEM))
    made.key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return made


def write_lock(folder: Path, *parts: str) -> Path:
    """Write a web configuration file of these parts."""
    file = folder / "web.yml"
    file.write_text("\n".join(parts) + "\n")
    return file


def tls(leaf: Leaf, *more: str) -> str:
    """Return a part with this certificate and further settings of TLS."""
    lines = [f"cert_file: {leaf.certificate_file}", f"key_file: {leaf.key_file}", *more]
    return "\n  ".join(["tls_server_config:", *lines])


def verified(client: Identity) -> str:
    """Return the settings that let in this client alone."""
    return f"client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: {client.certificate_file}"


USERS = f"basic_auth_users:\n  alice: {HASH}"
