"""Dialogues in packets: LDAP and PostgreSQL."""

from exporter.model.failure import Reason
from exporter.model.target import Endpoint
from exporter.wire.cursor import Cursor, TruncatedError
from exporter.wire.prelude import ber
from exporter.wire.prelude.conversation import Conversation, RefusalError, Waiting, check_size
from exporter.wire.prelude.lines import nonsense

_SEQUENCE, _INTEGER, _OCTETS, _ENUMERATED = 0x30, 0x02, 0x04, 0x0A
_EXTENDED_REQUEST, _EXTENDED_RESPONSE = 0x77, 0x78
_START_TLS = b"1.3.6.1.4.1.1466.20037"
_MESSAGE_ID = 1
_SUCCESS, _PROTOCOL_ERROR = 0, 2

_SSL_REQUEST = bytes.fromhex("00000008 04d2162f")
_LONGEST_POSTGRESQL_ERROR = 1 << 15


def ldap(conversation: Conversation, _own: Endpoint) -> Waiting[None]:
    """Turn LDAP to TLS by the extended operation StartTLS (RFC 4511 section 4.14)."""
    name = bytes((0x80, len(_START_TLS))) + _START_TLS
    operation = bytes((_EXTENDED_REQUEST, len(name))) + name
    message = bytes((_INTEGER, 1, _MESSAGE_ID)) + operation
    conversation.say(bytes((_SEQUENCE, len(message))) + message)
    head = yield from conversation.take(2)
    if head[0] != _SEQUENCE:
        raise nonsense(head)
    try:
        length = head[1]
        if more := ber.length_of_length(length):
            length = int.from_bytes((yield from conversation.take(more)), "big")
        check_size(length)
        code = _ldap_result((yield from conversation.take(length)))
    except TruncatedError:
        raise RefusalError(Reason.MALFORMED) from None
    if code == _PROTOCOL_ERROR:  # section 4.14.2: what a server says that does not know StartTLS
        raise RefusalError(Reason.NOT_OFFERED, f"result {code}")
    if code != _SUCCESS:
        raise RefusalError(Reason.REJECTED, f"result {code}")


def _ldap_result(contents: bytes) -> int:
    """Return the result code of a message with an extended response, ours or a notice of disconnection.

    Raises:
        TruncatedError: it is something else, or its lengths do not fit.
    """
    message = Cursor(contents)
    number = ber.integer(ber.expect(message, _INTEGER))
    response = Cursor(ber.expect(message, _EXTENDED_RESPONSE))
    code = ber.integer(ber.expect(response, _ENUMERATED))
    for _ in ("matchedDN", "diagnosticMessage"):
        ber.expect(response, _OCTETS)
    for rest in (response, message):
        while rest.left:
            ber.element(rest)
    disconnecting = number == 0 and code != _SUCCESS  # section 4.4.1
    if code < 0 or not (number == _MESSAGE_ID or disconnecting):
        raise TruncatedError
    return code


def postgresql(conversation: Conversation, _own: Endpoint) -> Waiting[None]:
    """Turn PostgreSQL to TLS by an SSLRequest (its manual, "Message Flow", "SSL Session Encryption")."""
    conversation.say(_SSL_REQUEST)
    answer = yield from conversation.take(1)
    if answer == b"S":
        return
    if answer == b"N":
        raise RefusalError(Reason.NOT_OFFERED)
    if answer != b"E":
        raise nonsense(answer)
    length = int.from_bytes((yield from conversation.take(4)), "big")
    if not 4 < length <= _LONGEST_POSTGRESQL_ERROR:  # an old server's error, which is bare text
        raise RefusalError(Reason.REJECTED, "an error")
    state = _sql_state((yield from conversation.take(length - 4)))
    raise RefusalError(Reason.REJECTED, f"error {state}" if state else "an error")


def _sql_state(fields: bytes) -> str:
    """Return the SQLSTATE of an error; "" without one. The message itself cannot be trusted, for want of TLS."""
    for field in fields.split(b"\0"):
        if field[:1] == b"C" and len(field) == 6 and field.isalnum():
            return field[1:].decode("ascii")
    return ""
