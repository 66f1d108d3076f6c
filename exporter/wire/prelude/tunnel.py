"""Asking an HTTP proxy for a tunnel (RFC 9110 section 9.3.6)."""

import h11

from exporter import __version__
from exporter.model.failure import Reason
from exporter.model.target import Address
from exporter.wire.prelude.conversation import Conversation, RefusalError, Waiting, check_size

_MOST_HEAD_BYTES = 1 << 16
_USER_AGENT = f"tlsprobe/{__version__} (tls-resumption-exporter)"
_FIELDS_TOO_LARGE = 431  # h11 hints at this status when a head outgrows its buffer (RFC 6585 section 5)
_PROXY_AUTHENTICATION_REQUIRED = 407
_PREFIX = b"HTTP/"
_NO_HTTP = "no answer of HTTP's"


def ask_tunnel(conversation: Conversation, backend: Address) -> Waiting[None]:
    """Ask for a tunnel to a backend; what comes behind the head of a 2xx is the backend's, whatever its fields say."""
    where = str(Address(backend.host.partition("%")[0], backend.port))
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEAD_BYTES)
    request = h11.Request(method="CONNECT", target=where, headers=[("Host", where), ("User-Agent", _USER_AGENT)])
    conversation.say(connection.send(request) or b"")
    connection.send(h11.EndOfMessage())
    status = yield from _status(conversation, connection)
    if status == _PROXY_AUTHENTICATION_REQUIRED:
        raise RefusalError(Reason.REJECTED, f"{status}: the proxy wants a password")
    if not 200 <= status < 300:
        raise RefusalError(Reason.REJECTED, f"status {status}")
    rest = connection.trailing_data[0]
    check_size(conversation.heard - len(rest))
    conversation.begin_stage()
    conversation.put(rest)


def _status(conversation: Conversation, connection: h11.Connection) -> Waiting[int]:
    """Return the final answer's status; interim answers are passed over, bounded as all bytes are."""
    start = b""
    try:
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Response):
                return event.status_code
            if event is h11.NEED_DATA:
                yield from conversation.wait()
                if data := conversation.take_rest():
                    start = (start + data)[: len(_PREFIX)]
                    if not _PREFIX.startswith(start):  # told at once, since such a peer may wait for us
                        raise RefusalError(Reason.MALFORMED, _NO_HTTP)
                    connection.receive_data(data)
    except h11.RemoteProtocolError as error:
        if error.error_status_hint == _FIELDS_TOO_LARGE:
            raise RefusalError(Reason.TOO_LARGE, "a head without end") from error
        raise RefusalError(Reason.MALFORMED, _NO_HTTP) from error
