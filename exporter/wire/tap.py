"""Handing over the decrypted handshake messages: the one module that knows the ssl module's private hook.

`SSLContext._msg_callback` has been in CPython since 3.8. Its public-looking wrapper turns three numbers into enum
members for each message; the descriptor beneath takes the bare numbers and costs about a quarter of that.
"""

import ssl
from collections.abc import Callable

from exporter.wire.messages import CERTIFICATE, COMPRESSED_CERTIFICATE, NEW_SESSION_TICKET, SERVER_HELLO
from exporter.wire.records import ALERT, HANDSHAKE

Tap = Callable[[ssl.SSLContext], bool]
"""Makes a context's connections TappedObjects that collect messages; False where it cannot."""

_WANTED = frozenset({SERVER_HELLO, CERTIFICATE, COMPRESSED_CERTIFICATE})


class TappedObject(ssl.SSLObject):
    """A connection that collects what the tap hears on it.

    Contexts are shared and the hook belongs to the context, so the messages are told apart by their connection.

    Attributes:
        heard: content types and messages with their own headers.
        before_ticket: called when a NewSessionTicket is about to take the place of the one before it.
    """

    heard: list[tuple[int, bytes]]
    before_ticket: Callable[[ssl.SSLObject], None]


def _hear(
    connection: TappedObject, direction: str, _version: int, content_type: int, message_type: int, data: bytes
) -> None:
    if content_type == HANDSHAKE:
        if message_type == NEW_SESSION_TICKET:
            connection.before_ticket(connection)
            connection.heard.append((HANDSHAKE, data))
        elif message_type in _WANTED and direction == "read":
            connection.heard.append((HANDSHAKE, data))
    elif content_type == ALERT and direction == "read":
        connection.heard.append((ALERT, data))


def attach(context: ssl.SSLContext) -> bool:
    """Make the context's connections collect their messages; False where this Python has no such hook."""
    hook = next(
        (vars(kind)["_msg_callback"] for kind in ssl.SSLContext.__mro__[1:] if "_msg_callback" in vars(kind)), None
    )
    if hook is None:
        return False
    hook.__set__(context, _hear)
    context.sslobject_class = TappedObject
    return True


def absent(_context: ssl.SSLContext) -> bool:
    """Attach nothing: the engine then reads only what is in clear."""
    return False
