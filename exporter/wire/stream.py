"""The HTTP/2 stream on which one answer comes (RFC 9113 section 8.1), told from h2's events."""

from collections.abc import Sequence
from dataclasses import dataclass

from h2.errors import ErrorCodes
from h2.events import DataReceived, Event, InformationalResponseReceived, ResponseReceived, StreamEnded, StreamReset

from exporter.model.failure import Failure, Reason, Stage
from exporter.wire.progress import MOST_INTERIM_ANSWERS

_BODILESS = frozenset({204, 304})
_SWITCHING_PROTOCOLS = b"101"
_REFUSALS = frozenset({ErrorCodes.REFUSED_STREAM, ErrorCodes.HTTP_1_1_REQUIRED})


@dataclass(slots=True)
class Stream:
    """What has come of the answer that is due.

    Attributes:
        number: the stream's identifier.
        most_body: bytes of content that are read.
        sample: whether a longer content is cut off there rather than being a failure.
        bodiless: that the request was a HEAD, whose answer may tell of a length that it does not have.
        begun: its head, or that of an interim answer, has begun to come.
        status: 0 until its head came.
        length: of the content, as announced.
        body: bytes of content so far.
        over: nothing more of it is awaited.
        cut: since there was more than we read.
    """

    number: int
    most_body: int
    sample: bool = False
    bodiless: bool = False
    begun: bool = False
    interim: int = 0
    status: int = 0
    length: int | None = None
    body: int = 0
    over: bool = False
    cut: bool = False

    def note(self, event: Event) -> Failure | None:
        """Take one event of this stream; return why there will be no answer, if that is what it says."""
        match event:
            case DataReceived(data=content):
                return self._note_content(len(content or b""))
            case ResponseReceived(headers=headers):
                return self._note_head(headers or ())
            case InformationalResponseReceived(headers=headers):
                return self._note_interim(headers or ())
            case StreamEnded():
                return self._note_end()
            case StreamReset():
                return _explain_reset(event)
            case _:
                return None

    def _note_content(self, size: int) -> Failure | None:
        self.body += size
        if self.body > self.most_body:
            if not self.sample:
                return Failure(Stage.HTTP, Reason.TOO_LARGE)
            self.over = self.cut = True
        return None

    def _note_head(self, headers: Sequence[tuple[bytes, bytes]]) -> Failure | None:
        statuses = [value for name, value in headers if name == b":status"]
        lengths = {value for name, value in headers if name == b"content-length"}
        if len(statuses[0]) != 3 or len(lengths) > 1 or not all(map(bytes.isdigit, [statuses[0], *lengths])):
            return Failure(Stage.HTTP, Reason.MALFORMED)
        self.status = int(statuses[0])
        if lengths and not self.bodiless and self.status not in _BODILESS:
            self.length = int(lengths.pop())
        return None

    def _note_interim(self, headers: Sequence[tuple[bytes, bytes]]) -> Failure | None:
        self.interim += 1
        if self.interim > MOST_INTERIM_ANSWERS:
            return Failure(Stage.HTTP, Reason.FLOODED)
        if dict(headers)[b":status"] == _SWITCHING_PROTOCOLS:  # HTTP/2 has no such thing (RFC 9113 section 8.6)
            return Failure(Stage.HTTP, Reason.MALFORMED)
        return None

    def _note_end(self) -> Failure | None:
        if self.length is not None and self.length != self.body and not self.cut:
            return Failure(Stage.HTTP, Reason.MALFORMED)
        self.over = True
        return None


def name_error(code: int) -> str:
    """Return the name of an HTTP/2 error code (RFC 9113 section 7), or the number where it has none."""
    try:
        return ErrorCodes(code).name
    except ValueError:
        return hex(code)


def _explain_reset(event: StreamReset) -> Failure:
    """Return the failure that an RST_STREAM is, or an error of the stream alone that h2 found itself."""
    if not event.remote_reset:
        return Failure(Stage.HTTP, Reason.MALFORMED)
    code = event.error_code or 0
    reason = Reason.REJECTED if code in _REFUSALS else Reason.RESET
    return Failure(Stage.HTTP, reason, f"RST_STREAM, {name_error(code)}")
