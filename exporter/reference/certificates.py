"""The throwaway certificates of the reference, made anew for every process and kept in memory only."""

import datetime as dt
import ipaddress
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from exporter.reference.listeners import SERVER_NAME

# Wide enough for any clock, also one that is yet to be set, so that they never need renewal. Their keys die with the
# process, so a short life would protect nothing.
_NOT_BEFORE = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_NOT_AFTER = dt.datetime(2099, 12, 31, tzinfo=dt.UTC)

_LeafKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class Credentials:
    """All as PEM.

    Attributes:
        ca: the certificate to trust.
        ecdsa, rsa: a private key and after it the certificate that the CA gave it, for a name and 127.0.0.1.
    """

    ca: str
    ecdsa: str = field(repr=False)
    rsa: str = field(repr=False)


def make_credentials(name: str = SERVER_NAME) -> Credentials:
    """Draw keys and sign certificates for a name; takes about 0.1 s, nearly all of it for the RSA key."""
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca = _sign_ca(ca_key)
    leaves = [
        _pem_of(key) + _sign_leaf(name, key, ca, ca_key)
        for key in (ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 2048))
    ]
    return Credentials(ca.public_bytes(serialization.Encoding.PEM).decode(), *leaves)


def _sign_ca(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name("reference CA")
    return (
        _start(name, name, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )


def _sign_leaf(name: str, key: _LeafKey, ca: x509.Certificate, ca_key: ec.EllipticCurvePrivateKey) -> str:
    names = [x509.DNSName(name), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        _start(_name(name), ca.subject, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _start(subject: x509.Name, issuer: x509.Name, key: _LeafKey) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_NOT_BEFORE)
        .not_valid_after(_NOT_AFTER)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _pem_of(key: _LeafKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
