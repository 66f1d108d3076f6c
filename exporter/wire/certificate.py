"""Facts of a leaf certificate, read so that no content of it can raise."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InternalError, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, rsa

from exporter.model.observation import Certificate
from exporter.wire.messages import Chain
from exporter.wire.names import HeldNames

_CACHED_BYTES = 4096
"""Certificates above this are read anew each time, so that an entry of the cache stays within some 30 KiB."""
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
    x509.UnsupportedGeneralNameType,
)

_CURVES = {"secp256r1": "p256", "secp384r1": "p384", "secp521r1": "p521"}

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A server's own certificate.

    Attributes:
        held: the names that it is for; None where they cannot be read.
    """

    facts: Certificate
    held: HeldNames | None = field(repr=False)

    def holds(self, server_name: str) -> bool | None:
        """Tell whether the certificate is for this name (RFC 9525); None where its names cannot be read."""
        return None if self.held is None else self.held.match(server_name)


def read_leaf(der: bytes, chain: Chain) -> Leaf:
    """Return the facts of a leaf in DER form; fields that cannot be read are empty or 0.

    Args:
        der: the leaf.
        chain: all certificates that were sent; an empty one where they were not seen.
    """
    return (_read_once if len(der) <= _CACHED_BYTES else _read)(der, chain)


def _read(der: bytes, chain: Chain) -> Leaf:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is odd in a certificate, none of our own doing
        leaf = _field(lambda: x509.load_der_x509_certificate(der), None)
        names = _field(lambda: _alternatives(leaf), None) if leaf else None
        facts = Certificate(sha256(der).digest(), "", "", "", "", 0.0, 0.0, (), sum(chain.sizes), len(chain.sizes))
        facts = replace(facts, chain=chain.fingerprint)
        return Leaf(_facts(leaf, names or (), facts) if leaf else facts, None if names is None else HeldNames(names))


_read_once = lru_cache(maxsize=512)(_read)


def _facts(leaf: x509.Certificate, names: Sequence[x509.GeneralName], known: Certificate) -> Certificate:
    return replace(
        known,
        subject=_field(lambda: leaf.subject.rfc4514_string()[:_LONGEST_NAME], ""),
        issuer=_field(lambda: leaf.issuer.rfc4514_string()[:_LONGEST_NAME], ""),
        key_type=_field(lambda: _key_type(leaf), ""),
        signature_algorithm=_field(lambda: _signature(leaf), ""),
        not_before=_field(lambda: _seconds(leaf.not_valid_before_utc), 0.0),
        not_after=_field(lambda: _seconds(leaf.not_valid_after_utc), 0.0),
        names=_shown(names),
        name_count=len(names),
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


def _alternatives(leaf: x509.Certificate) -> tuple[x509.GeneralName, ...]:
    try:
        return tuple(leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return ()


def _shown(names: Sequence[x509.GeneralName]) -> tuple[str, ...]:
    """Return as many of the names as a page has room for."""
    found = (str(name.value) for name in names if isinstance(name, x509.DNSName | x509.IPAddress))
    return tuple(name[:_LONGEST_NAME] for name, _ in zip(found, range(_MOST_NAMES), strict=False))
