"""MySQL's and MariaDB's dialogue (MySQL's internals, "Connection Phase"), and the words to leave with."""

from exporter.model.failure import Reason
from exporter.model.target import Endpoint
from exporter.wire.cursor import Cursor
from exporter.wire.prelude.conversation import Conversation, RefusalError, Waiting, check_size
from exporter.wire.prelude.lines import nonsense

_PROTOCOL = 10
_ERROR = 0xFF
_LARGEST_PACKET = 1 << 24
_CLIENT_LONG_PASSWORD, _CLIENT_PROTOCOL_41, _CLIENT_SSL = 1, 1 << 9, 1 << 11
_CLIENT_SECURE_CONNECTION, _CLIENT_PLUGIN_AUTH = 1 << 15, 1 << 19
_FLAGS = _CLIENT_LONG_PASSWORD | _CLIENT_PROTOCOL_41 | _CLIENT_SSL | _CLIENT_SECURE_CONNECTION | _CLIENT_PLUGIN_AUTH
_UTF8 = 33
_HEAD = _FLAGS.to_bytes(4, "little") + _LARGEST_PACKET.to_bytes(4, "little") + bytes((_UTF8, *bytes(23)))
_NO_USER = b"tlsprobe\0"
_NO_PASSWORD = b"\0"


def mysql(conversation: Conversation, _own: Endpoint) -> Waiting[None]:
    """Turn MySQL or MariaDB to TLS: its greeting, then an SSLRequest.

    The server does not answer the request: TLS begins right behind it.
    """
    head = yield from conversation.take(4)
    length = int.from_bytes(head[:3], "little")
    if head[3] != 0 or length == 0:
        raise nonsense(head)
    check_size(length)
    capabilities = _capabilities((yield from conversation.take(length)))
    if not capabilities & _CLIENT_SSL:
        raise RefusalError(Reason.NOT_OFFERED)
    conversation.say(_packet(1, _HEAD))


def _capabilities(greeting: bytes) -> int:
    """Return the lower half of the server's capability flags."""
    cursor = Cursor(greeting)
    try:
        kind = cursor.number(1)
        if kind == _ERROR:
            raise RefusalError(Reason.REJECTED, f"error {int.from_bytes(cursor.take(2), 'little')}")
        if kind != _PROTOCOL:
            raise RefusalError(Reason.MALFORMED, f"protocol version {kind}")
        cursor.take(greeting.index(b"\0", 1))  # the server's version
        cursor.take(4 + 8 + 1)  # the connection's number, half of the challenge, and a filler
        return int.from_bytes(cursor.take(2), "little")
    except ValueError:
        raise RefusalError(Reason.MALFORMED) from None


def _packet(number: int, contents: bytes) -> bytes:
    return len(contents).to_bytes(3, "little") + bytes((number,)) + contents


LOGIN = _packet(2, _HEAD + _NO_USER + _NO_PASSWORD + b"mysql_native_password\0") + _packet(4, b"\0")
"""An attempt to log in as nobody, within TLS; the second packet answers a server that asks once more for a password."""
