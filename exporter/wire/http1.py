"""One HTTP/1.1 exchange on a connection that somebody else holds (RFC 9112)."""

from dataclasses import dataclass
from functools import lru_cache

import h11

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import HttpSettings

_MOST_BODY_BYTES = 1 << 20
_MOST_OTHER_BYTES = 1 << 16
"""Of headers and chunk framing together."""
_MOST_INTERIM_ANSWERS = 16
_NO_BODY_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "CONNECT"})
_PREFIX = b"HTTP/"


@dataclass(frozen=True, slots=True)
class HttpProgress:
    """How far an exchange has come.

    Attributes:
        done: the answer is complete; no failure then.
        failure: why it will not be; its stage is `http`.
        status: 0 until the status line came; interim answers (1xx) are passed over.
        version: such as "1.1".
        body_bytes: bytes of content so far.
        keep_alive: whether the connection can carry another request, told when done.
    """

    done: bool = False
    failure: Failure | None = None
    status: int = 0
    version: str = ""
    body_bytes: int = 0
    keep_alive: bool = False


class Exchange:
    """One request and its answer.

    Args:
        settings: what to ask for.
        server_name: the Host header where the settings have none.
        port: told in that header where it is not 443.
        user_agent: says who asks.

    Raises:
        ValueError: method, path or headers make no valid request.

    Attributes:
        request: the bytes to send, all at once.
    """

    def __init__(self, settings: HttpSettings, server_name: str, port: int, *, user_agent: str) -> None:
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_OTHER_BYTES)
        request = _request(settings, server_name, port, user_agent)
        self.request = self._connection.send(request) or b""
        self._connection.send(_END)
        self._start = b""
        self._ended = False
        self._received = 0
        self._body = 0
        self._interim = 0
        self._status = 0
        self._version = ""
        self._last: HttpProgress | None = None

    def receive(self, data: bytes) -> HttpProgress:
        """Take bytes of the answer."""
        if self._last is not None or not data:
            return self._last or self._progress()
        if len(self._start) < len(_PREFIX):
            self._start = (self._start + data)[: len(_PREFIX)]
            if not _PREFIX.startswith(self._start):
                return self._fail(Reason.NOT_HTTP)
        self._received += len(data)
        return self._advance(data)

    def receive_eof(self) -> HttpProgress:
        """Take the end of the peer's bytes, which is also how some answers end (RFC 9112 section 6.3)."""
        if self._last is not None:
            return self._last
        self._ended = True
        progress = self._advance(b"")
        if progress.done or (progress.failure and progress.failure.reason is Reason.TOO_LARGE):
            return progress
        return self._fail(Reason.CLOSED)

    def _advance(self, data: bytes) -> HttpProgress:
        try:
            self._connection.receive_data(data)
            while self._take(self._connection.next_event()):
                pass
        except h11.RemoteProtocolError as error:
            too_large = error.error_status_hint == _FIELDS_TOO_LARGE
            return self._fail(Reason.TOO_LARGE if too_large else Reason.MALFORMED)
        if self._last is not None:
            return self._last
        if self._received - self._body > _MOST_OTHER_BYTES:
            return self._fail(Reason.TOO_LARGE)
        return self._progress()

    def _take(self, event: h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]) -> bool:
        """Note one event; tell whether more may be had from the bytes at hand."""
        match event:
            case h11.Data(data=content):
                self._body += len(content)
                if self._body > _MOST_BODY_BYTES:
                    self._fail(Reason.TOO_LARGE)
            case h11.Response(status_code=status, http_version=version):
                self._status = status
                self._version = version.decode("ascii")
            case h11.InformationalResponse():
                self._interim += 1
                if self._interim > _MOST_INTERIM_ANSWERS:
                    self._fail(Reason.TOO_LARGE)
            case h11.EndOfMessage():
                self._last = self._progress(done=True, keep_alive=self._reusable())
            case h11.ConnectionClosed():
                self._fail(Reason.CLOSED)
            case _:
                return False
        return self._last is None

    def _reusable(self) -> bool:
        connection = self._connection
        both_done = connection.our_state is connection.their_state is h11.DONE
        return both_done and not self._ended and not connection.trailing_data[0]

    def _fail(self, reason: Reason) -> HttpProgress:
        self._last = self._progress(failure=Failure(Stage.HTTP, reason))
        return self._last

    def _progress(
        self, *, done: bool = False, failure: Failure | None = None, keep_alive: bool = False
    ) -> HttpProgress:
        return HttpProgress(done, failure, self._status, self._version, self._body, keep_alive)


def unexpected_status(settings: HttpSettings, status: int) -> Failure | None:
    """Return the failure that a status is which the settings do not expect; None where it is expected."""
    if not settings.expect_status or status in settings.expect_status:
        return None
    wanted = " or ".join(map(str, settings.expect_status))
    return Failure(Stage.HTTP, Reason.UNEXPECTED_STATUS, f"{status} instead of {wanted}")


_END = h11.EndOfMessage()
_FIELDS_TOO_LARGE = 431  # h11 hints at this status when a head outgrows its buffer (RFC 6585 section 5)


@lru_cache(maxsize=1024)
def _request(settings: HttpSettings, server_name: str, port: int, user_agent: str) -> h11.Request:
    headers = [("Host", settings.host or _host(server_name, port)), ("User-Agent", user_agent), ("Accept", "*/*")]
    if settings.method not in _NO_BODY_METHODS:
        headers.append(("Content-Length", "0"))
    own = {name.lower() for name, _ in settings.headers}
    headers = [pair for pair in headers if pair[0].lower() not in own]
    try:
        return h11.Request(method=settings.method, target=settings.path, headers=[*headers, *settings.headers])
    except (h11.LocalProtocolError, UnicodeEncodeError) as error:
        raise ValueError(f"{settings.method} {settings.path} with these headers is no valid request") from error


def _host(server_name: str, port: int) -> str:
    name = server_name.partition("%")[0]
    host = f"[{name}]" if ":" in name else name
    return host if port == 443 else f"{host}:{port}"
