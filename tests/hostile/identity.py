"""Certificates that are wrong in one way each, made on the spot by an authority of the test's own."""

import datetime as dt
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID, ObjectIdentifier

NAME = "site.test"
"""The name that good certificates hold and clients ask for."""

_FILLER = ObjectIdentifier("1.3.6.1.4.1.99999.1")  # nobody's, and not critical, so that every client passes over it
_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate, those that lead to its authority, and its key."""

    chain: tuple[x509.Certificate, ...]
    key: ec.EllipticCurvePrivateKey = field(repr=False)

    @property
    def ders(self) -> tuple[bytes, ...]:
        """The chain in DER form, the leaf first."""
        return tuple(certificate.public_bytes(serialization.Encoding.DER) for certificate in self.chain)

    def save(self, folder: Path, stem: str) -> tuple[Path, Path]:
        """Write the chain and the key as PEM; returns both paths."""
        chain, key = folder / f"{stem}.pem", folder / f"{stem}.key"
        chain.write_bytes(b"".join(c.public_bytes(serialization.Encoding.PEM) for c in self.chain))
        pkcs8 = serialization.PrivateFormat.PKCS8
        key.write_bytes(self.key.private_bytes(serialization.Encoding.PEM, pkcs8, serialization.NoEncryption()))
        return chain, key

    def server_context(self, folder: Path, stem: str) -> ssl.SSLContext:
        """Build a stock server context that shows this identity."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.save(folder, stem))
        return context


class Authority:
    """A root that signs what it is asked to.

    Args:
        now: the middle of every certificate's life that is not told otherwise.
        name: common name of the root.
    """

    def __init__(self, now: dt.datetime, name: str = "Hostile Test Root") -> None:
        self._now = now
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.root = (
            _build(self._name, self._name, self._key.public_key(), now - 30 * _DAY, now + 30 * _DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def issue(
        self, names: Sequence[str] = (NAME,), *, from_days: float = -1, to_days: float = 30, filler: int = 0
    ) -> Identity:
        """Sign a leaf, valid from and to so many days from now, with `filler` bytes of a meaningless extension."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        life = self._now + from_days * _DAY, self._now + to_days * _DAY
        builder = _name_leaf(_build(subject, self._name, key.public_key(), *life), names)
        if filler:
            builder = builder.add_extension(x509.UnrecognizedExtension(_FILLER, bytes(filler)), critical=False)
        return Identity((builder.sign(self._key, hashes.SHA256()),), key)

    def self_signed(self, names: Sequence[str] = (NAME,)) -> Identity:
        """Make a leaf that nobody vouches for but itself."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        builder = _build(subject, subject, key.public_key(), self._now - _DAY, self._now + _DAY)
        return Identity((_name_leaf(builder, names).sign(key, hashes.SHA256()),), key)

    def save_root(self, folder: Path) -> Path:
        """Write the root as PEM; returns its path."""
        path = folder / "root.pem"
        path.write_bytes(self.root.public_bytes(serialization.Encoding.PEM))
        return path


def _build(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, start: dt.datetime, end: dt.datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(start).not_valid_after(end)


def _name_leaf(builder: x509.CertificateBuilder, names: Sequence[str]) -> x509.CertificateBuilder:
    return builder.add_extension(
        x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False
    ).add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
