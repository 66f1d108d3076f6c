"""The other handshake messages that we read: tickets, certificates, key exchange. None stands for nonsense."""

from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from exporter.model.observation import Ticket
from exporter.wire.cursor import Cursor, TruncatedError, extensions

SERVER_HELLO = 2
NEW_SESSION_TICKET = 4
CERTIFICATE = 11
SERVER_KEY_EXCHANGE = 12
COMPRESSED_CERTIFICATE = 25

_HEADER_BYTES = 4
_EARLY_DATA = 42
_NAMED_CURVE = 3
_CACHED_BYTES = 8192
"""Certificate messages above this are read anew each time, so that the cache stays within 2 MiB."""

_GROUPS = {
    0x0017: "secp256r1",
    0x0018: "secp384r1",
    0x0019: "secp521r1",
    0x001A: "brainpoolP256r1",
    0x001B: "brainpoolP384r1",
    0x001C: "brainpoolP512r1",
    0x001D: "x25519",
    0x001E: "x448",
    0x001F: "brainpoolP256r1tls13",
    0x0020: "brainpoolP384r1tls13",
    0x0021: "brainpoolP512r1tls13",
    0x0022: "GC256A",
    0x0023: "GC256B",
    0x0024: "GC256C",
    0x0025: "GC256D",
    0x0026: "GC512A",
    0x0027: "GC512B",
    0x0028: "GC512C",
    0x0029: "curveSM2",
    0x0100: "ffdhe2048",
    0x0101: "ffdhe3072",
    0x0102: "ffdhe4096",
    0x0103: "ffdhe6144",
    0x0104: "ffdhe8192",
    0x0200: "MLKEM512",
    0x0201: "MLKEM768",
    0x0202: "MLKEM1024",
    0x11EB: "SecP256r1MLKEM768",
    0x11EC: "X25519MLKEM768",
    0x11ED: "SecP384r1MLKEM1024",
    0x11EE: "curveSM2MLKEM768",
    0x6399: "X25519Kyber768Draft00",
    0x639A: "SecP256r1Kyber768Draft00",
}
"""IANA, TLS Supported Groups."""


def group_name(number: int) -> str:
    """Name a group as IANA does, in hexadecimal where it has no name, "" for 0."""
    return _GROUPS.get(number) or (f"0x{number:04x}" if number else "")


def read_ticket(message: bytes, *, tls13: bool) -> Ticket | None:
    """Read a NewSessionTicket (RFC 8446 section 4.6.1, RFC 5077 section 3.3); an empty ticket is none."""
    try:
        cursor = Cursor(message, _HEADER_BYTES)
        lifetime = cursor.number(4)
        if not tls13:
            identity = cursor.vector(2)
            return Ticket(identity, lifetime) if identity else None
        cursor.take(4)
        nonce = cursor.vector(1)
        identity = cursor.vector(2)
        early = None
        for kind, content in extensions(cursor.vector(2)):
            if kind == _EARLY_DATA:
                early = Cursor(content).number(4)
    except TruncatedError:
        return None
    return Ticket(identity, lifetime, early, nonce) if identity else None


class Chain(NamedTuple):
    """The certificates that were sent.

    Attributes:
        sizes: of each in DER form.
        fingerprint: SHA-256 over them all, one behind the other.
    """

    sizes: tuple[int, ...] = ()
    fingerprint: bytes = b""


def read_chain(message: bytes, *, tls13: bool) -> Chain | None:
    """Read a Certificate message (RFC 8446 section 4.4.2, RFC 5246 section 7.4.2)."""
    return (_read_chain_once if len(message) <= _CACHED_BYTES else _read_chain)(message, tls13)


def _read_chain(message: bytes, tls13: bool) -> Chain | None:
    sizes = []
    digest = sha256()
    try:
        cursor = Cursor(message, _HEADER_BYTES)
        if tls13:
            cursor.vector(1)
        chain = Cursor(cursor.vector(3))
        while chain.left:
            der = chain.vector(3)
            sizes.append(len(der))
            digest.update(der)
            if tls13:
                chain.vector(2)
    except TruncatedError:
        return None
    return Chain(tuple(sizes), digest.digest()) if sizes else Chain()


_read_chain_once = lru_cache(maxsize=256)(_read_chain)


def read_curve(message: bytes) -> str:
    """Return the group of a ServerKeyExchange of an ECDHE suite (RFC 8422 section 5.4), "" of any other."""
    try:
        cursor = Cursor(message, _HEADER_BYTES)
        return group_name(cursor.number(2)) if cursor.number(1) == _NAMED_CURVE else ""
    except TruncatedError:
        return ""
