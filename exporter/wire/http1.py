"""An HTTP/1.1 conversation on a connection that somebody else holds (RFC 9112)."""

from dataclasses import dataclass

import h11

from exporter.model.connections import Announced, End
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import HttpSettings
from exporter.wire.progress import (
    MOST_BODY_BYTES,
    MOST_INTERIM_ANSWERS,
    MOST_OTHER_BYTES,
    NOTHING_ANNOUNCED,
    HttpProgress,
)
from exporter.wire.request import Request, make_request
from exporter.wire.whole import Whole, read_whole

_PREFIX = b"HTTP/"
_END_OF_REQUEST = h11.EndOfMessage()
_FIELDS_TOO_LARGE = 431  # h11 hints at this status when a head outgrows its buffer (RFC 6585 section 5)
_SWITCHING_PROTOCOLS = 101
_MOST_DIGITS = 9  # of seconds and requests; who says more has made a mistake


@dataclass(slots=True)
class _Answer:
    """What has come of the answer that is due.

    Attributes:
        request: what it answers.
        reader: reads it, once it is known to need one.
        most_body: bytes of content that are read.
        sample: whether the rest of a longer content is left unread, which ends the connection, rather than a failure.
        start: its first bytes, by which another protocol is told.
        announced_end: what the connection will end by, by the heads.
    """

    request: Request
    reader: h11.Connection | None = None
    most_body: int = 0
    sample: bool = False
    start: bytes = b""
    received: int = 0
    body: int = 0
    interim: int = 0
    status: int = 0
    version: str = ""
    announced: Announced = NOTHING_ANNOUNCED
    announced_end: End | None = None


class Http1:
    """Requests one after the other, each with its answer.

    Args:
        settings: what to ask for.
        server_name: the Host header where the settings have none.
        port: told in that header where it is not 443.
        user_agent: says who asks.

    Raises:
        ValueError: method, path or headers make no valid request.

    Attributes:
        asked: how many requests were made.
    """

    def __init__(self, settings: HttpSettings, server_name: str, port: int, *, user_agent: str) -> None:
        self.asked = 0
        self._settings = settings
        self._origin = (server_name, port, user_agent)
        self._request = make_request(settings, None, *self._origin)
        self._answer: _Answer | None = None
        self._end: End | None = None
        self._unasked = False
        self._broken: HttpProgress | None = None

    def ask(self, path: str | None = None) -> bytes:
        """Return the bytes of the next request.

        Args:
            path: what to GET instead of the settings' request; no more than their `large_bytes` is read of it.

        Raises:
            RuntimeError: an answer is due, or no request may follow.
            ValueError: the path makes no valid request.
        """
        if self._answer is not None or self._end is not None:
            raise RuntimeError("no request may be made now")
        request = self._request if path is None else make_request(self._settings, path, *self._origin)
        self.asked += 1
        sample = path is not None
        most_body = self._settings.large_bytes if sample else MOST_BODY_BYTES
        end = End.OWN_LIMIT if request.closing else None  # the settings' own headers ask for `Connection: close`
        self._answer = _Answer(request, most_body=most_body, sample=sample, announced_end=end)
        return request.wire

    def receive(self, data: bytes) -> HttpProgress:
        """Take bytes of the answer; where none is due they are a failure of their own."""
        answer = self._answer
        if answer is None:
            return self._receive_idle(data)
        if not data:
            return _progress(answer)
        if len(answer.start) < len(_PREFIX):
            answer.start = (answer.start + data)[: len(_PREFIX)]
            if not _PREFIX.startswith(answer.start):
                return self._fail(Reason.NOT_HTTP if self.asked == 1 else Reason.MALFORMED)
        whole = None if answer.received or not answer.request.filled else read_whole(data)
        answer.received += len(data)
        if whole is not None and whole.body <= answer.most_body:
            _take_head(answer, whole, first=self.asked == 1)
            answer.body = whole.body
            return self._finish(answer, answer.announced_end)
        try:
            return self._advance(answer, data)
        except h11.RemoteProtocolError as error:
            too_large = error.error_status_hint == _FIELDS_TOO_LARGE
            return self._fail(Reason.TOO_LARGE if too_large else Reason.MALFORMED)

    def receive_eof(self) -> HttpProgress:
        """Take the end of the peer's bytes, which is also how some answers end (RFC 9112 section 6.3)."""
        answer = self._answer
        if answer is None:
            progress = self._receive_idle(b"")
            if progress.end is None:
                self._end = End.CLOSED
            return self._receive_idle(b"")
        if not answer.start:
            return self._fail(Reason.CLOSED, End.IN_FLIGHT)
        try:
            progress = self._advance(answer, b"")
        except h11.RemoteProtocolError:
            return self._fail(Reason.CLOSED)
        return progress if progress.done or progress.failure else self._fail(Reason.CLOSED)

    def _receive_idle(self, data: bytes) -> HttpProgress:
        if self._broken is not None:
            return self._broken
        if self._unasked or (data and self._end is not End.OWN_LIMIT):
            return self._fail(Reason.UNASKED)
        return HttpProgress(end=self._end)

    def _advance(self, answer: _Answer, data: bytes) -> HttpProgress:
        """Read on; no bytes are the end of them."""
        reader = answer.reader = answer.reader or _begin_reading(answer.request)
        reader.receive_data(data)
        while True:
            match reader.next_event():
                case h11.Data(data=content):
                    answer.body += len(content)
                    if answer.body > answer.most_body:
                        return self._finish(answer, End.OWN_LIMIT) if answer.sample else self._fail(Reason.TOO_LARGE)
                case h11.Response() as response:
                    _take_head(answer, response, first=self.asked == 1)
                case h11.InformationalResponse() as interim:
                    answer.interim += 1
                    if answer.interim > MOST_INTERIM_ANSWERS:
                        return self._fail(Reason.FLOODED)
                    if interim.status_code == _SWITCHING_PROTOCOLS:
                        _take_head(answer, interim, first=self.asked == 1)
                        # h11 lets it pass only where the settings' own headers ask for it.
                        return self._finish(answer, End.OWN_LIMIT)
                case h11.EndOfMessage():
                    return self._finish(answer, answer.announced_end or (None if data else self._closed()))
                case _:
                    break
        if answer.received - answer.body > MOST_OTHER_BYTES:
            return self._fail(Reason.TOO_LARGE)
        return _progress(answer)

    def _closed(self) -> End:
        """Name the end that the close itself was: without a length, it ends the answer as well."""
        return End.CLOSED if self.asked == 1 else End.MAX_REQUESTS

    def _finish(self, answer: _Answer, end: End | None) -> HttpProgress:
        self._answer = None
        more = answer.reader is not None and bool(answer.reader.trailing_data[0])
        self._unasked = more and end is not End.OWN_LIMIT
        self._end = end or (End.ERROR if self._unasked else None)
        return _progress(answer, done=True, keep_alive=self._end is None, end=self._end)

    def _fail(self, reason: Reason, end: End = End.ERROR) -> HttpProgress:
        answer, self._answer = self._answer or _Answer(self._request), None
        self._end = end
        self._broken = _progress(answer, failure=Failure(Stage.HTTP, reason), end=end)
        return self._broken


def _begin_reading(request: Request) -> h11.Connection:
    """Return a reader of one answer; h11 would not let one of HTTP/1.0 be followed by another."""
    reader = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_OTHER_BYTES)
    reader.send(request.gist)
    reader.send(_END_OF_REQUEST)
    return reader


def _progress(
    answer: _Answer,
    *,
    done: bool = False,
    failure: Failure | None = None,
    keep_alive: bool = False,
    end: End | None = None,
) -> HttpProgress:
    return HttpProgress(
        done,
        failure,
        answer.status,
        answer.version,
        answer.body,
        keep_alive,
        end,
        answer.announced,
        begun=answer.received > 0,
    )


def _take_head(answer: _Answer, head: h11.Response | h11.InformationalResponse | Whole, *, first: bool) -> None:
    answer.status = head.status_code
    answer.version = head.http_version.decode("ascii")
    options: list[bytes] = []
    framed_for_1_1 = False
    for name, value in head.headers:
        if name == b"connection":
            options += [option.strip() for option in value.lower().split(b",")]
        elif name == b"keep-alive":
            answer.announced = read_keep_alive(value)
        elif name == b"transfer-encoding":
            framed_for_1_1 = True
    if b"close" in options:
        end = End.CONNECTION_CLOSE
    elif head.http_version < b"1.1" and (b"keep-alive" not in options or framed_for_1_1):
        end = End.HTTP_1_0  # RFC 9112 sections 6.1 and 9.3
    else:
        return
    answer.announced_end = answer.announced_end or (end if first else End.MAX_REQUESTS)


def read_keep_alive(value: bytes) -> Announced:
    """Read a Keep-Alive header's value, without what makes no sense in it (RFC 2068 section 19.7.1.1)."""
    told: dict[bytes, int] = {}
    for parameter in value.split(b","):
        name, _, number = parameter.partition(b"=")
        digits = number.strip(b' \t"')
        if digits.isdigit() and len(digits) <= _MOST_DIGITS:
            told.setdefault(name.strip().lower(), int(digits))
    return Announced(told.get(b"timeout"), told.get(b"max"))
