"""The other handshake messages that we read: tickets, certificates, key exchange. None stands for nonsense."""

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
    0x0029: "curveSM2",
    0x0100: "ffdhe2048",
    0x0101: "ffdhe3072",
    0x0102: "ffdhe4096",
    0x0103: "ffdhe6144",
    0x0104: "ffdhe8192",
    0x0200: "mlkem512",
    0x0201: "mlkem768",
    0x0202: "mlkem1024",
    0x11EB: "secp256r1mlkem768",
    0x11EC: "x25519mlkem768",
    0x11ED: "secp384r1mlkem1024",
    0x6399: "x25519kyber768draft00",
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


def read_chain_sizes(message: bytes, *, tls13: bool) -> tuple[int, ...] | None:
    """Return the DER size of each certificate of a Certificate message (RFC 8446 section 4.4.2)."""
    sizes = []
    try:
        cursor = Cursor(message, _HEADER_BYTES)
        if tls13:
            cursor.vector(1)
        chain = Cursor(cursor.vector(3))
        while chain.left:
            sizes.append(len(chain.vector(3)))
            if tls13:
                chain.vector(2)
    except TruncatedError:
        return None
    return tuple(sizes)


def read_curve(message: bytes) -> str:
    """Return the group of a ServerKeyExchange of an ECDHE suite (RFC 8422 section 5.4), "" of any other."""
    try:
        cursor = Cursor(message, _HEADER_BYTES)
        return group_name(cursor.number(2)) if cursor.number(1) == _NAMED_CURVE else ""
    except TruncatedError:
        return ""
