"""The certificate and key that `tlsprobe bench` is given, and what is wrong with them where they cannot be used."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from exporter.wire.certificate import read_leaf
from exporter.wire.messages import Chain
from exporter.yardstick.signatures import PrivateKey

_LEAST_RSA_BITS = 2048  # what OpenSSL takes at its usual security level, 2
_CURVES = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)  # RFC 8446 section 4.2.3
_ALLOWED = f"RSA of {_LEAST_RSA_BITS} bits or more, ECDSA over P-256, P-384 or P-521, Ed25519 or Ed448"


class OwnCertificateError(Exception):
    """The user's certificate or key cannot be used; the message says why, and what can be done about it."""


@dataclass(frozen=True, slots=True)
class Own:
    """The user's certificate.

    Attributes:
        pem: the private key, and the certificates behind it.
    """

    pem: str = field(repr=False)
    key_type: str
    key: PrivateKey = field(repr=False)


def read_own(certificate: Path, key: Path) -> Own:
    """Read the user's certificate and key.

    Raises:
        OwnCertificateError: they cannot be read or do not belong together, or TLS 1.3 cannot sign with the key.
    """
    chain, secret = _read("--cert", certificate), _read("--key", key)
    private = _read_key(key, secret)
    try:
        leaf = x509.load_pem_x509_certificate(chain)
    except ValueError:
        raise OwnCertificateError(
            f"--cert {certificate} holds no certificate in PEM; `openssl x509 -in {certificate}` prints one in DER so"
        ) from None
    facts = read_leaf(leaf.public_bytes(Encoding.DER), Chain()).facts
    if leaf.public_key() != private.public_key():
        raise OwnCertificateError(
            f"--cert {certificate} is of another key than --key {key}: name the two that belong together, with the "
            "server's own certificate first in its file"
        )
    signer = _check(key, private, facts.key_type)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        raise OwnCertificateError(
            f"--cert {certificate}: the TLS library does not take it ({error.reason}); name one that a server can use"
        ) from None
    # Between its blocks a file may hold words of any sort, in any encoding.
    return Own(b"\n".join((secret, chain)).decode("ascii", "ignore"), facts.key_type, signer)


def _read(option: str, file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise OwnCertificateError(f"{option} {file}: {error.strerror}; a file in PEM is needed") from None


def _read_key(file: Path, secret: bytes) -> PrivateKeyTypes:
    try:
        return load_pem_private_key(secret, None)
    except TypeError:
        raise OwnCertificateError(
            f"--key {file} is encrypted, and no password is asked for; `openssl pkey -in {file}` prints it in clear"
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise OwnCertificateError(
            f"--key {file} holds no private key in PEM; `openssl pkey -in {file}` prints one in DER so"
        ) from None


def _check(file: Path, key: PrivateKeyTypes, key_type: str) -> PrivateKey:
    """Return a key that TLS 1.3 can sign with."""
    match key:
        case rsa.RSAPrivateKey() if key.key_size >= _LEAST_RSA_BITS:
            return key
        case ec.EllipticCurvePrivateKey() if isinstance(key.curve, _CURVES):
            return key
        case ed25519.Ed25519PrivateKey() | ed448.Ed448PrivateKey():
            return key
        case _:
            pass
    raise OwnCertificateError(f"--key {file} is {key_type}, which no server can use here; allowed: {_ALLOWED}")
