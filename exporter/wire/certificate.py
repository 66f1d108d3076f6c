"""Facts of a leaf certificate, read so that no content of it can raise."""

import warnings
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InternalError, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa

from exporter.model.observation import Certificate

_CACHED_BYTES = 4096
"""Certificates above this are read anew each time, so that the cache stays within 2 MiB."""
_LONGEST_NAME = 512
_MOST_NAMES = 256

# What cryptography raises, once it is asked for it, of a field that it cannot read.
UNREADABLE = (
    ValueError,
    TypeError,
    KeyError,
    OverflowError,
    UnsupportedAlgorithm,
    InternalError,
    x509.InvalidVersion,
    x509.DuplicateExtension,
    x509.ExtensionNotFound,
    x509.UnsupportedGeneralNameType,
)

_CURVES = {"secp256r1": "p256", "secp384r1": "p384", "secp521r1": "p521"}

_T = TypeVar("_T")


def read_certificate(der: bytes, chain_sizes: tuple[int, ...]) -> Certificate:
    """Return the facts of a leaf in DER form; fields that cannot be read are empty or 0.

    Args:
        der: the leaf.
        chain_sizes: DER size of each certificate that was sent; empty where that was not seen.
    """
    return (_read_once if len(der) <= _CACHED_BYTES else _read)(der, chain_sizes)


def _read(der: bytes, chain_sizes: tuple[int, ...]) -> Certificate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is odd in a certificate, none of our own doing
        leaf = _field(lambda: x509.load_der_x509_certificate(der), None)
        return _facts(leaf, sha256(der).digest(), chain_sizes)


_read_once = lru_cache(maxsize=512)(_read)


def _facts(leaf: x509.Certificate | None, fingerprint: bytes, sizes: tuple[int, ...]) -> Certificate:
    if leaf is None:
        return Certificate(fingerprint, "", "", "", "", 0.0, 0.0, (), sum(sizes), len(sizes))
    return Certificate(
        fingerprint=fingerprint,
        subject=_field(lambda: leaf.subject.rfc4514_string()[:_LONGEST_NAME], ""),
        issuer=_field(lambda: leaf.issuer.rfc4514_string()[:_LONGEST_NAME], ""),
        key_type=_field(lambda: _key_type(leaf), ""),
        signature_algorithm=_field(lambda: _signature(leaf), ""),
        not_before=_field(lambda: _seconds(leaf.not_valid_before_utc), 0.0),
        not_after=_field(lambda: _seconds(leaf.not_valid_after_utc), 0.0),
        names=_field(lambda: _names(leaf), ()),
        chain_bytes=sum(sizes),
        chain_count=len(sizes),
    )


def _field(read: Callable[[], _T], unreadable: _T) -> _T:
    try:
        return read()
    except UNREADABLE:
        return unreadable


def _seconds(moment: datetime) -> float:
    return moment.timestamp()


def _key_type(leaf: x509.Certificate) -> str:
    match leaf.public_key():
        case rsa.RSAPublicKey(key_size=size):
            return f"rsa-{size}"
        case ec.EllipticCurvePublicKey(curve=curve):
            return f"ecdsa-{_CURVES.get(curve.name, curve.name)}"
        case dsa.DSAPublicKey(key_size=size):
            return f"dsa-{size}"
        case ed25519.Ed25519PublicKey():
            return "ed25519"
        case ed448.Ed448PublicKey():
            return "ed448"
        case _:
            return leaf.public_key_algorithm_oid.dotted_string


def _signature(leaf: x509.Certificate) -> str:
    """Name the algorithm as its OID's registry does, such as `ecdsa-with-SHA256`; the OID itself where unnamed."""
    oid = leaf.signature_algorithm_oid
    name = oid._name  # the only place where cryptography has it
    return oid.dotted_string if name == "Unknown OID" else name


def _names(leaf: x509.Certificate) -> tuple[str, ...]:
    found = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    names = (str(name.value) for name in found if isinstance(name, x509.DNSName | x509.IPAddress))
    return tuple(name[:_LONGEST_NAME] for name, _ in zip(names, range(_MOST_NAMES), strict=False))
