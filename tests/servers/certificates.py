"""Throwaway certificates in PEM files: an authority, and the leaves that it signs."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.servers.ports import LOOPBACK_HOSTS

SERVER_NAME = "site.test"
KeyType = Literal["ecdsa", "rsa"]
_PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class Leaf:
    """A certificate with its private key, as servers want them.

    Attributes:
        certificate_file: the leaf in PEM; its issuer is the authority itself, so the chain ends here.
        key_file: the private key in unencrypted PKCS #8.
        combined_file: the leaf and then the key.
    """

    certificate_file: Path
    key_file: Path
    combined_file: Path


class Authority:
    """A certificate authority with an ECDSA P-256 key, whose certificate is in `file`."""

    def __init__(self, folder: Path, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._folder = folder
        self._key = key
        self._certificate = certificate
        self.file = folder / "authority.pem"
        self.pem = certificate.public_bytes(Encoding.PEM).decode()
        self.file.write_text(self.pem)

    @classmethod
    def create(cls, folder: Path, now: datetime, name: str = "Test authority") -> Self:
        """Make an authority that is valid for ten years from the day before `now`; its files go to `folder`."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(name, name, key, key, now - timedelta(days=1), now + timedelta(days=3650))
        for extension in (x509.BasicConstraints(ca=True, path_length=0), _usage(signs_certificates=True)):
            builder = builder.add_extension(extension, critical=True)
        return cls(folder, key, builder.sign(key, hashes.SHA256()))

    def issue(
        self,
        stem: str,
        *,
        now: datetime,
        key_type: KeyType = "ecdsa",
        names: Sequence[str] = (SERVER_NAME,),
        hosts: Sequence[str] = LOOPBACK_HOSTS,
        starts: timedelta = timedelta(days=-1),
        ends: timedelta = timedelta(days=30),
    ) -> Leaf:
        """Sign a server certificate and write it to files that begin with `stem`.

        Args:
            now: what `starts` and `ends` are counted from; an expired certificate ends before it.
            names: DNS names, the first of which is also the subject; several thousand make a large message.
            hosts: IP addresses.
        """
        key = _private_key(key_type)
        builder = _builder(names[0], _common_name(self._certificate), key, self._key, now + starts, now + ends)
        certificate = _server(builder, names, hosts).sign(self._key, hashes.SHA256())
        return _write(self._folder, stem, certificate, key)


def issue_self_signed(
    folder: Path, stem: str, *, now: datetime, key_type: KeyType = "ecdsa", names: Sequence[str] = (SERVER_NAME,)
) -> Leaf:
    """Make a server certificate that nobody but itself has signed."""
    key = _private_key(key_type)
    builder = _builder(names[0], names[0], key, key, now - timedelta(days=1), now + timedelta(days=30))
    certificate = _server(builder, names, LOOPBACK_HOSTS).sign(key, hashes.SHA256())
    return _write(folder, stem, certificate, key)


def _private_key(key_type: KeyType) -> _PrivateKey:
    if key_type == "rsa":
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return ec.generate_private_key(ec.SECP256R1())


def _builder(
    subject: str, issuer: str, key: _PrivateKey, issuer_key: _PrivateKey, start: datetime, end: datetime
) -> x509.CertificateBuilder:
    """Return all that authority and leaf have in common; the key identifiers are what a strict verifier asks for."""
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )


def _server(builder: x509.CertificateBuilder, names: Sequence[str], hosts: Sequence[str]) -> x509.CertificateBuilder:
    alternatives = [
        *(x509.DNSName(name) for name in names),
        *(x509.IPAddress(ipaddress.ip_address(host)) for host in hosts),
    ]
    return (
        builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _common_name(certificate: x509.Certificate) -> str:
    return str(certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


def _write(folder: Path, stem: str, certificate: x509.Certificate, key: _PrivateKey) -> Leaf:
    leaf = Leaf(folder / f"{stem}.pem", folder / f"{stem}.key", folder / f"{stem}.both.pem")
    certificate_pem = certificate.public_bytes(Encoding.PEM)
    key_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    leaf.certificate_file.write_bytes(certificate_pem)
    leaf.key_file.write_bytes(key_pem)
    leaf.combined_file.write_bytes(certificate_pem + key_pem)
    return leaf
