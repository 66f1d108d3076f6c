"""What the two hellos show in clear (RFC 8446 sections 4.1.2 and 4.1.3, RFC 5246 section 7.4.1)."""

from dataclasses import dataclass, field

from exporter.wire.cursor import Cursor, TruncatedError, extensions

_SERVER_NAME = 0
_EXTENDED_MASTER_SECRET = 23
_SESSION_TICKET = 35
_PRE_SHARED_KEY = 41
_SUPPORTED_VERSIONS = 43
_KEY_SHARE = 51

_SESSION_ID_PLACE = 4 + 2 + 32
"""Behind the message's header, the version and the random, in both hellos."""

_NAME_HEADER_BYTES = 5
"""Ahead of the name in its extension: the list's length, the name's type and length."""

# SHA-256 of "HelloRetryRequest": a ServerHello with this random is one (RFC 8446 section 4.1.3).
_RETRY_RANDOM = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


@dataclass(frozen=True, slots=True)
class ClientHello:
    """What a client offers to resume from.

    Attributes:
        session_id: in TLS 1.3, or beside a ticket, it is random and offers nothing.
        ticket: content of the session_ticket extension, b"" where it only asks for a ticket.
        identity: the first identity of the pre_shared_key extension: in TLS 1.3 the ticket.
        size: of the whole message, its own header included.
    """

    session_id: bytes = b""
    ticket: bytes = field(default=b"", repr=False)
    identity: bytes = field(default=b"", repr=False)
    size: int = 0


@dataclass(frozen=True, slots=True)
class ServerHello:
    """What a server chose.

    Attributes:
        version: as on the wire, 0x0304 for TLS 1.3.
        group: the named group of the key_share extension, 0 without one.
        retry: whether it is a HelloRetryRequest.
        extended_master_secret: whether its extension is there (RFC 7627 section 5.1).
    """

    version: int
    session_id: bytes = b""
    group: int = 0
    retry: bool = False
    extended_master_secret: bool = False


def read_client_hello(message: bytes) -> ClientHello:
    """Read a ClientHello with its handshake header; of nothing, or of one that is cut off, nothing."""
    try:
        cursor = Cursor(message, _SESSION_ID_PLACE)
        session_id = cursor.vector(1)
        cursor.vector(2)
        cursor.vector(1)
        found = dict(extensions(cursor.vector(2)))
        offer = found.get(_PRE_SHARED_KEY)
        identity = Cursor(offer, 2).vector(2) if offer else b""
    except TruncatedError:
        return ClientHello()
    return ClientHello(session_id, found.get(_SESSION_TICKET, b""), identity, len(message))


def read_server_hello(message: bytes) -> ServerHello | None:
    """Read a ServerHello or HelloRetryRequest with its handshake header; None if it makes no sense."""
    try:
        cursor = Cursor(message, _SESSION_ID_PLACE)
        session_id = cursor.vector(1)
        cursor.take(3)
        found = dict(extensions(cursor.vector(2))) if cursor.left else {}
        version = Cursor(found.get(_SUPPORTED_VERSIONS, message[4:6])).number(2)
        group = Cursor(found.get(_KEY_SHARE, b"\0\0")).number(2)
    except TruncatedError:
        return None
    retry = message[6:_SESSION_ID_PLACE] == _RETRY_RANDOM
    return ServerHello(version, session_id, group, retry, _EXTENDED_MASTER_SECRET in found)


def server_name_place(message: bytes) -> int | None:
    """Return where the middle of the server name is in a ClientHello (RFC 6066 section 3); None without a name."""
    try:
        cursor = Cursor(message, _SESSION_ID_PLACE)
        cursor.vector(1)
        cursor.vector(2)
        cursor.vector(1)
        cursor.take(2)
        while cursor.left:
            kind = cursor.number(2)
            content = cursor.vector(2)
            if kind == _SERVER_NAME:
                return len(message) - cursor.left - (len(content) - _NAME_HEADER_BYTES) // 2
    except TruncatedError:
        return None
    return None
