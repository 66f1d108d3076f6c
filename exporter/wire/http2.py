"""An HTTP/2 conversation on a connection that somebody else holds (RFC 9113): one request at a time."""

from dataclasses import replace

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived
from h2.exceptions import DenialOfServiceError, ProtocolError
from h2.settings import SettingCodes, Settings

from exporter.model.connections import End
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import HttpSettings
from exporter.wire.frames import Flag, Frame, Kind, OverlongFrameError, take_frame
from exporter.wire.progress import MOST_BODY_BYTES, MOST_OTHER_BYTES, HttpProgress
from exporter.wire.request import make_request
from exporter.wire.stream import Stream, name_error

_MOST_FRAMES_DUE = 256
"""Of those that carry nothing of the answer that is due."""
_MOST_FRAMES_IDLE = 4096
"""Of those since the last request, while no answer is due: a PING each second for an hour is no flood."""
_MOST_CONTINUATIONS = 32
_FIRST_WINDOW = 65_535  # RFC 9113 section 6.9.2
_WINDOW = MOST_BODY_BYTES + MOST_OTHER_BYTES
"""So much may come without our leave, so that an ordinary answer needs no WINDOW_UPDATE."""
_GOAWAY_BYTES = 8
_CARRIERS = frozenset({Kind.DATA, Kind.HEADERS, Kind.CONTINUATION})
_BLOCKS = frozenset({Kind.HEADERS, Kind.PUSH_PROMISE, Kind.CONTINUATION})
_LASTING = frozenset({Reason.REJECTED, Reason.RESET, Reason.CLOSED})
"""What takes nothing from an end that was known before."""
_OWN_WORDS = {
    Reason.FLOODED: ErrorCodes.ENHANCE_YOUR_CALM,
    Reason.TOO_LARGE: ErrorCodes.ENHANCE_YOUR_CALM,
    Reason.UNASKED: ErrorCodes.PROTOCOL_ERROR,
    Reason.MALFORMED: ErrorCodes.PROTOCOL_ERROR,
}
_CONFIGURATION = H2Configuration(
    client_side=True,
    header_encoding=None,
    validate_outbound_headers=False,  # a request is checked when it is made, once for all conversations
    normalize_outbound_headers=False,
)
_SETTINGS = {
    SettingCodes.ENABLE_PUSH: 0,
    SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW,
    SettingCodes.MAX_HEADER_LIST_SIZE: MOST_OTHER_BYTES,
}


class Http2:
    """Requests one after the other, each with its answer; see Http1 for the arguments.

    Attributes:
        asked: how many requests were made.
    """

    def __init__(self, settings: HttpSettings, server_name: str, port: int, *, user_agent: str) -> None:
        self.asked = 0
        self._settings = settings
        self._origin = (server_name, port, user_agent)
        self._request = make_request(settings, None, *self._origin)
        self._connection = _connect()
        self._buffer = bytearray()
        self._greeted = False
        self._in_block = False
        self._block_frames = 0
        self._idle_frames = 0
        self._other_bytes = 0
        self._due: Stream | None = None
        self._end: End | None = None
        self._goaway: int | None = None
        self._broken: HttpProgress | None = None

    def ask(self, path: str | None = None) -> bytes:
        """Return the bytes of the next request, behind the preface where that was not sent yet.

        Args:
            path: what to GET instead of the settings' request; no more than their `large_bytes` is read of it.

        Raises:
            RuntimeError: an answer is due, or no request may follow.
            ValueError: the path makes no valid request.
        """
        if self._due is not None or self._stop is not None:
            raise RuntimeError("no request may be made now")
        request = self._request if path is None else make_request(self._settings, path, *self._origin)
        number = 2 * self.asked + 1
        self._connection.send_headers(number, request.fields, end_stream=True)
        self.asked += 1
        self._idle_frames = self._other_bytes = 0
        most_body = MOST_BODY_BYTES if path is None else self._settings.large_bytes
        self._due = Stream(number, most_body, sample=path is not None, bodiless=request.head.method == b"HEAD")
        return self._connection.data_to_send()

    def receive(self, data: bytes) -> HttpProgress:
        """Take bytes from the peer, also while no answer is due."""
        if self._broken is not None or self._end is End.OWN_LIMIT:
            return self._broken or HttpProgress(end=self._end)
        self._buffer += data
        failure: Failure | None = None
        try:
            while failure is None and not (self._due and self._due.cut) and (frame := take_frame(self._buffer)):
                failure = self._take(frame)
        except OverlongFrameError:
            failure = Failure(Stage.HTTP, Reason.MALFORMED if self._greeted else Reason.NOT_HTTP)
        except ProtocolError as error:  # h2 has a GOAWAY ready then
            too_large = isinstance(error, DenialOfServiceError)
            return self._tell(Failure(Stage.HTTP, Reason.TOO_LARGE if too_large else Reason.MALFORMED))
        if failure is not None and self._greeted:
            self._connection.close_connection(_OWN_WORDS.get(failure.reason, ErrorCodes.NO_ERROR))
        return self._tell(failure)

    def receive_eof(self) -> HttpProgress:
        """Take the end of the peer's bytes."""
        if self._broken is not None:
            return self._broken
        if self._due is None:
            self._end = self._end or End.CLOSED
            return HttpProgress(end=self._end, goaway=self._goaway)
        self._end = self._end or (None if self._due.begun else End.IN_FLIGHT)
        return self._tell(Failure(Stage.HTTP, Reason.CLOSED))

    @property
    def _stop(self) -> End | None:
        """Why no request may follow: besides what has happened, the server may allow no streams for now."""
        if self._end is None and not self._connection.remote_settings.max_concurrent_streams:
            return End.MAX_REQUESTS
        return self._end

    def _take(self, frame: Frame) -> Failure | None:
        """Take one frame; h2 sees it only where one may come, and no GOAWAY, behind which it would read nothing."""
        if not self._greeted and not _greets(frame):
            return Failure(Stage.HTTP, Reason.NOT_HTTP)
        self._greeted = True
        due = self._due if self._due and not self._due.over and self._due.number == frame.stream else None
        if frame.kind in {Kind.DATA, Kind.HEADERS} and due is None:
            return Failure(Stage.HTTP, Reason.UNASKED)
        if self._count(frame, carries=due is not None and frame.kind in _CARRIERS):
            return Failure(Stage.HTTP, Reason.FLOODED)
        if frame.kind == Kind.GOAWAY:
            return self._take_goaway(frame)
        self._in_block = frame.kind in _BLOCKS and not frame.flags & Flag.END_HEADERS
        failure = self._pass_on(frame, due)
        if failure is None and self._other_bytes > MOST_OTHER_BYTES:
            return Failure(Stage.HTTP, Reason.TOO_LARGE)
        return failure

    def _count(self, frame: Frame, *, carries: bool) -> bool:
        """Count a frame, and tell whether there were too many that carry nothing."""
        self._other_bytes += len(frame.wire)
        self._block_frames = self._block_frames + 1 if frame.kind == Kind.CONTINUATION else 0
        self._idle_frames += not carries
        most = _MOST_FRAMES_DUE if self._due is not None else _MOST_FRAMES_IDLE
        return self._idle_frames > most or self._block_frames > _MOST_CONTINUATIONS

    def _pass_on(self, frame: Frame, due: Stream | None) -> Failure | None:
        """Let h2 read a frame, and note what it says of the answer that is due on the frame's stream."""
        events = self._connection.receive_data(frame.wire)
        if due is None:
            return None
        due.begun |= frame.kind == Kind.HEADERS
        before = due.body
        for event in events:
            if isinstance(event, DataReceived):
                self._connection.acknowledge_received_data(event.flow_controlled_length or 0, due.number)
            failure = due.note(event)
            if failure is not None:
                return failure
        self._other_bytes -= due.body - before
        self._idle_frames += frame.kind == Kind.DATA and due.body == before
        if due.cut:
            self._end = End.OWN_LIMIT
        return None

    def _take_goaway(self, frame: Frame) -> Failure | None:
        """Note that no request may follow; the one under way is answered still, if it came in time (section 6.8)."""
        payload = frame.payload
        if frame.stream or len(payload) < _GOAWAY_BYTES or self._in_block:
            return Failure(Stage.HTTP, Reason.MALFORMED)
        last, self._goaway = int.from_bytes(payload[:4], "big") & 0x7FFF_FFFF, int.from_bytes(payload[4:8], "big")
        self._end = self._end or End.GOAWAY
        if self._due is None or self._due.over or self._due.number <= last:
            return None
        return Failure(Stage.HTTP, Reason.REJECTED, f"GOAWAY, {name_error(self._goaway)}")

    def _tell(self, failure: Failure | None) -> HttpProgress:
        """Tell what there is; a failure behind a complete answer is told next time."""
        if failure is not None:
            self._end = (self._end if failure.reason in _LASTING else None) or End.ERROR
        due = self._due or Stream(0, 0)
        if due.over or failure is not None:
            self._due = None
        end = self._stop if self._due is None else None
        progress = HttpProgress(
            done=due.over,
            status=due.status,
            version="2" if due.status else "",
            body_bytes=due.body,
            keep_alive=due.over and end is None,
            end=end,
            goaway=self._goaway,
            send=self._connection.data_to_send(),
            begun=due.begun,
        )
        if failure is None:
            return progress
        if due.over:
            self._broken = HttpProgress(failure=failure, end=end, goaway=self._goaway)
            return progress
        self._broken = replace(progress, failure=failure, send=b"")
        return replace(progress, failure=failure)


def _connect() -> H2Connection:
    """Make a connection whose preface waits to be sent."""
    connection = H2Connection(_CONFIGURATION)
    connection.local_settings = Settings(client=True, initial_values=_SETTINGS)
    connection.initiate_connection()
    connection.increment_flow_control_window(_WINDOW - _FIRST_WINDOW)
    return connection


def _greets(frame: Frame) -> bool:
    """Tell whether a frame may be a server's first (RFC 9113 section 3.4)."""
    return frame.kind == Kind.SETTINGS and not frame.flags & Flag.ACK and frame.stream == 0
