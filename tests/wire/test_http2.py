"""HTTP/2 conversations, with the library's own server in memory and with frames by hand."""

import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import RequestReceived
from hpack import Encoder
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from exporter.model.connections import End
from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.target import HttpSettings
from exporter.wire.frames import Kind
from exporter.wire.http import HttpProgress
from exporter.wire.http2 import Http2

_LARGE = 1 << 20
_PING, _WINDOW_UPDATE, _UNKNOWN = 6, 8, 0xBE
_END_STREAM, _END_HEADERS, _ACK = 1, 4, 1
SETTINGS = b"\0\0\0\4\0\0\0\0\0"


def frame(kind: int, payload: bytes = b"", flags: int = 0, stream: int = 0) -> bytes:
    """Give one frame."""
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def head(status: bytes = b"200", *more: tuple[bytes, bytes], stream: int = 1, flags: int = _END_HEADERS) -> bytes:
    """Give the head of an answer, by an encoder that keeps nothing from one to the next."""
    return frame(Kind.HEADERS, block((b":status", status), *more), flags, stream)


def block(*fields: tuple[bytes, bytes]) -> bytes:
    """Give fields in HPACK, without a use of its table that a later block could miss."""
    return bytes(Encoder().encode(fields))


def data(content: bytes, *, stream: int = 1, last: bool = True) -> bytes:
    """Give content."""
    return frame(Kind.DATA, content, _END_STREAM if last else 0, stream)


def goaway(last: int, code: int = 0) -> bytes:
    """Give a GOAWAY."""
    return frame(Kind.GOAWAY, struct.pack(">II", last, code))


def begin(settings: HttpSettings | None = None) -> Http2:
    """Give a conversation in which nothing was asked yet."""
    return Http2(settings or HttpSettings(), "site.test", 443, user_agent="tester")


def ask(method: str = "GET") -> Http2:
    """Give one whose first request is on its way."""
    conversation = begin(HttpSettings(method=method))
    conversation.ask()
    return conversation


def answered(
    status: int, body: int, *, end: End | None = None, code: int | None = None, send: bytes = b""
) -> HttpProgress:
    """Give what is told of a complete answer."""
    return HttpProgress(True, None, status, "2", body, end is None, end, goaway=code, send=send, begun=True)


def silent(progress: HttpProgress) -> HttpProgress:
    """Leave out what the protocol wants sent."""
    return replace(progress, send=b"")


class Server:
    """The other end, by the library's own book."""

    def __init__(self) -> None:
        self.connection = H2Connection(H2Configuration(client_side=False, header_encoding="ascii"))
        self.connection.initiate_connection()

    def take(self, request: bytes) -> dict[str, str]:
        """Take bytes, and give the fields of the request in them, if there is one."""
        events = self.connection.receive_data(request)
        asked = [event.headers or () for event in events if isinstance(event, RequestReceived)]
        return {str(name): str(value) for headers in asked for name, value in headers}

    def answer(self, stream: int, content: bytes) -> bytes:
        """Answer a request with content that the windows have room for."""
        self.connection.send_headers(stream, [(":status", "200"), ("server", "library")])
        self.connection.send_data(stream, content, end_stream=True)
        return self.connection.data_to_send()

    def answer_at_length(self, conversation: Http2, stream: int, content: bytes) -> HttpProgress:
        """Answer a request frame by frame, with a look at what is said meanwhile."""
        self.connection.send_headers(stream, [(":status", "200")])
        for start in range(0, len(content), 16384):
            self.connection.send_data(stream, content[start : start + 16384])
            self.take(conversation.receive(self.connection.data_to_send()).send)
        self.connection.end_stream(stream)
        return conversation.receive(self.connection.data_to_send())


def test_requests() -> None:
    """Five requests on one connection are each answered, and the library's server finds no fault."""
    settings = HttpSettings(
        method="POST", path="/p", headers=(("X-Probe", "1"), ("Connection", "x"), ("TE", "trailers"), ("X", "y"))
    )
    conversation, server = begin(settings), Server()
    for number in range(5):
        fields = server.take(conversation.ask())
        told = conversation.receive(server.answer(2 * number + 1, b"hello"))
        server.take(told.send)

        assert silent(told) == answered(200, 5)
        assert fields == {
            ":method": "POST",
            ":scheme": "https",
            ":authority": "site.test",
            ":path": "/p",
            "user-agent": "tester",
            "accept": "*/*",
            "content-length": "0",
            "x-probe": "1",
            "x": "y",
        }
    assert conversation.asked == 5


def test_greeting_before_the_first_request() -> None:
    """A server may speak first, and is answered with our own preface; the request follows it."""
    conversation, server = begin(), Server()
    greeting = server.connection.data_to_send()

    assert server.take(conversation.receive(greeting).send) == {}
    assert server.take(conversation.ask())[":path"] == "/"
    assert silent(conversation.receive(server.answer(1, b"hello"))) == answered(200, 5)


def test_larger_bodies() -> None:
    """Windows are opened again in time, however much has come."""
    conversation, server = begin(), Server()
    for number in range(4):
        server.take(conversation.ask())
        told = server.answer_at_length(conversation, 2 * number + 1, bytes(_LARGE))

        assert silent(told) == answered(200, _LARGE)


def test_pings_while_idle() -> None:
    """A server may ask whether we live at any time, and is told."""
    conversation = ask()
    conversation.receive(SETTINGS + head() + data(b""))

    assert conversation.receive(frame(_PING, b"12345678")) == HttpProgress(send=frame(_PING, b"12345678", _ACK))


@pytest.mark.parametrize(
    "settings",
    [pytest.param(HttpSettings(path="/a b"), id="path"), pytest.param(HttpSettings(method="A B"), id="method")],
)
def test_impossible_request(settings: HttpSettings) -> None:
    """Settings that make no request are an error of the caller's."""
    with pytest.raises(ValueError, match="no valid request"):
        begin(settings)


ANSWERS = [
    pytest.param("GET", head() + data(b"hello"), answered(200, 5), id="plain"),
    pytest.param("GET", head(b"204", flags=5), answered(204, 0), id="204"),
    pytest.param("GET", head(b"304", (b"content-length", b"9"), flags=5), answered(304, 0), id="304"),
    pytest.param("HEAD", head(b"200", (b"content-length", b"9"), flags=5), answered(200, 0), id="HEAD"),
    pytest.param("GET", head(b"301", (b"location", b"/x"), flags=5), answered(301, 0), id="redirect"),
    pytest.param("GET", head(b"103") + head() + data(b"hello"), answered(200, 5), id="interim answer"),
    pytest.param(
        "GET",
        head() + data(b"hello", last=False) + frame(Kind.HEADERS, block((b"x", b"y")), 5, 1),
        answered(200, 5),
        id="trailers",
    ),
    pytest.param(
        "GET",
        frame(Kind.HEADERS, block((b":status", b"200")), 1, 1)
        + frame(Kind.CONTINUATION, block((b"x", b"y")), _END_HEADERS, 1),
        answered(200, 0),
        id="head in two frames",
    ),
    pytest.param(
        "GET", head() + frame(_UNKNOWN, b"?", 0, 1) + data(b"", last=False) + data(b"ok"), answered(200, 2), id="noise"
    ),
    pytest.param(
        "GET",
        head(b"200", (b"content-encoding", b"gzip")) + data(b"\x1f\x8bno"),
        answered(200, 4),
        id="nothing is decompressed",
    ),
    pytest.param("GET", goaway(1) + head() + data(b"ok"), answered(200, 2, end=End.GOAWAY, code=0), id="GOAWAY before"),
    pytest.param("GET", head() + data(b"ok") + goaway(1), answered(200, 2, end=End.GOAWAY, code=0), id="GOAWAY behind"),
    pytest.param(
        "GET",
        goaway((1 << 31) - 1) + head() + data(b"ok") + goaway(1, 2),
        answered(200, 2, end=End.GOAWAY, code=2),
        id="GOAWAY in two steps",
    ),
    pytest.param(
        "GET",
        frame(Kind.SETTINGS, struct.pack(">HI", 3, 0)) + head() + data(b"ok"),
        answered(200, 2, end=End.MAX_REQUESTS),
        id="no streams any more",
    ),
    pytest.param("GET", head() + data(b"ok") + data(b"more"), answered(200, 2, end=End.ERROR), id="content behind it"),
]


@pytest.mark.parametrize(("method", "answer", "expected"), ANSWERS)
@pytest.mark.parametrize("size", [1 << 20, 1], ids=["whole", "byte by byte"])
def test_answer(method: str, answer: bytes, expected: HttpProgress, size: int) -> None:
    """Every way in which an answer may come is understood, and what is told of it is what came."""
    conversation = ask(method)
    stream = SETTINGS + answer
    told = [conversation.receive(stream[start : start + size]) for start in range(0, len(stream), size)]
    done = [progress for progress in told if progress.done]

    assert len(done) == 1
    if size > 1 or not expected.end:
        assert silent(done[0]) == expected
    assert (told[-1].end, told[-1].goaway) == (expected.end, expected.goaway)


def _rejected(words: str) -> Failure:
    return Failure(Stage.HTTP, Reason.REJECTED, words)


FAILURES = [
    pytest.param(frame(Kind.RST_STREAM, b"\0\0\0\7", 0, 1), _rejected("RST_STREAM, REFUSED_STREAM"), id="refused"),
    pytest.param(frame(Kind.RST_STREAM, b"\0\0\0\r", 0, 1), _rejected("RST_STREAM, HTTP_1_1_REQUIRED"), id="1.1"),
    pytest.param(
        head() + frame(Kind.RST_STREAM, b"\0\0\0\2", 0, 1),
        Failure(Stage.HTTP, Reason.RESET, "RST_STREAM, INTERNAL_ERROR"),
        id="reset within the answer",
    ),
    pytest.param(goaway(0), _rejected("GOAWAY, NO_ERROR"), id="too late a request"),
    pytest.param(goaway(0, 0xBAD), _rejected("GOAWAY, 0xbad"), id="unknown error code"),
]
FAILURES += [
    pytest.param(piece, Failure(Stage.HTTP, reason), id=name)
    for name, piece, reason in [
        ("status in words", head(b"good"), Reason.MALFORMED),
        ("no status", frame(Kind.HEADERS, block((b"x", b"y")), 5, 1), Reason.MALFORMED),
        ("upper case", head(b"200", (b"X", b"y")), Reason.MALFORMED),
        ("connection header", head(b"200", (b"connection", b"close")), Reason.MALFORMED),
        ("switch", head(b"101"), Reason.MALFORMED),
        ("endless interim answers", head(b"103") * 100, Reason.FLOODED),
        ("too little content", head(b"200", (b"content-length", b"9")) + data(b"four"), Reason.MALFORMED),
        ("no content", head(b"200", (b"content-length", b"9"), flags=5), Reason.MALFORMED),
        ("too much content", head(b"200", (b"content-length", b"2")) + data(b"four"), Reason.MALFORMED),
        ("two lengths", head(b"200", (b"content-length", b"2"), (b"content-length", b"4")), Reason.MALFORMED),
        ("length with a sign", head(b"200", (b"content-length", b"+2")), Reason.MALFORMED),
        ("length of many digits", head(b"200", (b"content-length", b"9" * 5000)), Reason.MALFORMED),
        ("content without a head", data(b"ok"), Reason.MALFORMED),
        ("no HPACK", frame(Kind.HEADERS, b"\xff" * 20, 5, 1), Reason.MALFORMED),
        ("head on another stream", head(stream=3), Reason.UNASKED),
        ("head on a stream of its own", head(stream=2), Reason.UNASKED),
        ("content for nobody", data(b"ok", stream=7), Reason.UNASKED),
        ("push", frame(Kind.PUSH_PROMISE, b"\0\0\0\2" + block((b":method", b"GET")), 4, 1), Reason.MALFORMED),
        ("overlong frame", b"\xff\0\0\0\0\0\0\0\1", Reason.MALFORMED),
        ("short GOAWAY", frame(Kind.GOAWAY, b"\0"), Reason.MALFORMED),
        ("GOAWAY of a stream", frame(Kind.GOAWAY, bytes(8), 0, 1), Reason.MALFORMED),
        ("GOAWAY in a head", head(flags=0) + goaway(1), Reason.MALFORMED),
        ("short SETTINGS", frame(Kind.SETTINGS, b"\0\1\0"), Reason.MALFORMED),
        ("forbidden setting", frame(Kind.SETTINGS, struct.pack(">HI", 5, 1)), Reason.MALFORMED),
        ("window beyond measure", frame(_WINDOW_UPDATE, b"\x7f\xff\xff\xff", 0, 1), Reason.MALFORMED),
        ("window of nothing", frame(_WINDOW_UPDATE, bytes(4)), Reason.MALFORMED),
        ("padding beyond the frame", frame(Kind.DATA, b"\xff", 8, 1), Reason.MALFORMED),
        ("settings flood", frame(Kind.SETTINGS, struct.pack(">HI", 4, 9)) * 9000, Reason.FLOODED),
        ("ping flood", frame(_PING, bytes(8)) * 9000, Reason.FLOODED),
        ("reset flood", frame(Kind.RST_STREAM, bytes(4), 0, 3) * 9000, Reason.FLOODED),
        ("priority flood", frame(2, b"\0\0\0\1\0", 0, 3) * 9000, Reason.FLOODED),
        ("flood of the unknown", frame(_UNKNOWN) * 9000, Reason.FLOODED),
        ("GOAWAY flood", goaway(1) * 9000, Reason.FLOODED),
        ("empty content", head() + data(b"", last=False) * 9000, Reason.FLOODED),
        ("endless CONTINUATION", head(flags=0) + frame(Kind.CONTINUATION, b"", 0, 1) * 9000, Reason.FLOODED),
        ("large ones", head(flags=0) + frame(Kind.CONTINUATION, bytes(16384), 0, 1) * 9, Reason.TOO_LARGE),
        ("header list too large", head(b"200", *[(b"x", b"y" * 3000)] * 20, (b"z", b"y" * 9000)), Reason.TOO_LARGE),
        ("padding", head() + frame(Kind.DATA, b"\xff" + bytes(256), 8, 1) * 300, Reason.TOO_LARGE),
        ("large frames of the unknown", frame(_UNKNOWN, bytes(16384)) * 9, Reason.TOO_LARGE),
        ("crumbs of content", head() + data(b"x", last=False) * 9000, Reason.TOO_LARGE),
        ("endless content", head() + data(bytes(16384), last=False) * 65, Reason.TOO_LARGE),
    ]
]


@pytest.mark.parametrize(("answer", "failure"), FAILURES)
@pytest.mark.parametrize("size", [1 << 30, 1000], ids=["whole", "in pieces"])
def test_absurd_answer(answer: bytes, failure: Failure, size: int) -> None:
    """An answer that makes no sense or no end is a failure with its reason, stays one, and the server is told."""
    conversation = ask()
    conversation.receive(SETTINGS)
    told = HttpProgress()
    for start in range(0, len(answer), size):
        told = conversation.receive(answer[start : start + size])
        if told.failure is not None:
            break

    assert told.failure == failure
    assert told.end in {End.ERROR, End.GOAWAY}
    assert told.send[-17:-5].startswith(b"\0\0\x08\x07")
    assert conversation.receive(SETTINGS) == conversation.receive_eof() == silent(told)


def test_header_bomb() -> None:
    """A few bytes that name one long field again and again are not unfolded beyond the bound."""
    first = bytes(Encoder().encode([(b":status", b"200"), (b"x", b"y" * 4000)]))
    conversation = ask()
    conversation.receive(SETTINGS)
    told = conversation.receive(frame(Kind.HEADERS, first + b"\xbe" * 10_000, 5, 1))

    assert told.failure == Failure(Stage.HTTP, Reason.TOO_LARGE)


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", id="HTTP/1.1"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", id="another protocol"),
        pytest.param(b"\0\0\0\4\1\0\0\0\0", id="an acknowledgement first"),
        pytest.param(frame(_PING, bytes(8)), id="another frame first"),
        pytest.param(b"\x15\3\3\0\2\2\x28", id="a TLS alert"),
    ],
)
def test_not_http(start: bytes) -> None:
    """A server must begin with its settings, and one that does not speaks something else."""
    conversation = ask()
    conversation.receive(start + bytes(9))
    told = conversation.receive_eof()

    assert (told.failure, told.end, told.send) == (Failure(Stage.HTTP, Reason.NOT_HTTP), End.ERROR, b"")


@pytest.mark.parametrize("code", ErrorCodes)
def test_goaway_codes(code: ErrorCodes) -> None:
    """Every code is reported, and an idle connection that is told to go is no failure."""
    conversation = ask()
    conversation.receive(SETTINGS + head() + data(b"ok"))
    told = conversation.receive(goaway(1, code))

    assert told == HttpProgress(end=End.GOAWAY, goaway=code)
    assert conversation.receive_eof() == told
    with pytest.raises(RuntimeError):
        conversation.ask()


@pytest.mark.parametrize(
    ("came", "end", "code"),
    [
        pytest.param(b"", End.IN_FLIGHT, None, id="nothing"),
        pytest.param(SETTINGS, End.IN_FLIGHT, None, id="no part of an answer"),
        pytest.param(SETTINGS + head(), End.ERROR, None, id="a head"),
        pytest.param(SETTINGS + goaway(1, 2), End.GOAWAY, 2, id="its word that it goes"),
    ],
)
def test_close_before_the_answer_is_complete(came: bytes, end: End, code: int | None) -> None:
    """An answer that is cut off is no answer, and one of which nothing came crossed with the close."""
    conversation = ask()
    conversation.receive(came)
    told = conversation.receive_eof()

    assert (told.failure, told.end, told.goaway) == (Failure(Stage.HTTP, Reason.CLOSED), end, code)


def test_close_while_idle() -> None:
    """A connection that closes behind an answer has ended, without a failure."""
    conversation = ask()
    conversation.receive(SETTINGS + head() + data(b"ok"))

    assert conversation.receive_eof() == conversation.receive_eof() == HttpProgress(end=End.CLOSED)


def test_no_streams_for_now() -> None:
    """A server that allows no stream is not asked, until it allows one again."""
    conversation = ask()
    conversation.receive(SETTINGS + head() + data(b"ok"))
    told = conversation.receive(frame(Kind.SETTINGS, struct.pack(">HI", 3, 0)))
    assert told.end is End.MAX_REQUESTS
    with pytest.raises(RuntimeError):
        conversation.ask()

    assert conversation.receive(frame(Kind.SETTINGS, struct.pack(">HI", 3, 1))).end is None
    assert conversation.ask()


SAMPLED = HttpSettings(method="HEAD", large_path="/large", large_bytes=1000)


@pytest.mark.parametrize(
    ("size", "end"),
    [pytest.param(1000, None, id="as large as we read"), pytest.param(1001, End.OWN_LIMIT, id="larger")],
)
def test_sample_of_a_larger_body(size: int, end: End | None) -> None:
    """A body beyond the bound is complete as far as we care, and what still comes of it is nobody's."""
    conversation, server = begin(SAMPLED), Server()
    fields = server.take(conversation.ask(SAMPLED.large_path))

    assert (fields[":method"], fields[":path"]) == ("GET", "/large")
    assert silent(conversation.receive(server.answer(1, bytes(size)))) == answered(200, size, end=end)
    if end is not None:
        assert conversation.receive(data(bytes(99))) == HttpProgress(end=end)


def test_floods_are_counted_anew() -> None:
    """What came with earlier answers counts against none of the later ones."""
    conversation = ask()
    conversation.receive(SETTINGS)
    for number in range(10):
        told = conversation.receive(frame(_PING, bytes(8)) * 200 + head(stream=2 * number + 1, flags=5))
        conversation.ask()

        assert told.done


def test_pings_for_an_hour() -> None:
    """An idle connection that is asked each second whether it lives is no flood; one without end is."""
    conversation = ask()
    conversation.receive(SETTINGS + head() + data(b"ok"))
    told = [conversation.receive(frame(_PING, bytes(8))) for _ in range(3600)]

    assert all(progress.failure is None for progress in told)
    assert conversation.receive(frame(_PING, bytes(8)) * 3600).failure is not None


def test_library_comes_late() -> None:
    """A process that never speaks HTTP/2 does not load what it takes."""
    code = (
        "import sys; from exporter.wire.http import converse; from exporter.model.target import HttpSettings;"
        "converse('http/1.1', HttpSettings(), 'site.test', 443, user_agent='t').ask(); print('h2' in sys.modules);"
        "converse('h2', HttpSettings(), 'site.test', 443, user_agent='t').ask(); print('h2' in sys.modules)"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)

    assert seen.stdout.split() == ["False", "True"]


_GOOD = SETTINGS + head(b"200", (b"content-length", b"5")) + data(b"hello") + goaway(1)


def _feed(conversation: Http2, pieces: Sequence[bytes]) -> list[HttpProgress]:
    return [*(conversation.receive(piece) for piece in pieces), conversation.receive_eof(), conversation.receive_eof()]


frames = st.builds(
    frame,
    kind=st.integers(0, 12),
    payload=st.one_of(st.binary(max_size=30), st.just(block((b":status", b"200"))), st.just(b"\0\0\0\1" + bytes(4))),
    flags=st.sampled_from((0, 1, 4, 5, 8, 0x20, 0x2D, 255)),
    stream=st.sampled_from((0, 1, 1, 1, 2, 3, 1 << 31)),
)
streams = st.one_of(
    st.binary(max_size=200),
    st.lists(frames, max_size=12).map(b"".join).map(SETTINGS.__add__),
    st.tuples(st.integers(0, 60), st.binary(max_size=6), st.integers(0, 6)).map(
        lambda bend: _GOOD[: bend[0]] + bend[1] + _GOOD[bend[0] + bend[2] :]
    ),
)


@examples(max_examples=400, deadline=None)
@given(stream=streams)
def test_no_answer_raises(stream: bytes) -> None:
    """Whatever comes, the conversation ends in an answer or a failure of the closed list, and nothing may follow."""
    told = _feed(ask(), [stream])

    assert sum(progress.done or progress.failure is not None for progress in told) >= 1
    assert all(progress.failure is None or progress.failure.reason in STAGE_REASONS[Stage.HTTP] for progress in told)
    assert all(progress.end is not None for progress in told[1:])
    assert not any(progress.done and progress.failure for progress in told)


@examples(max_examples=200, deadline=None)
@given(stream=streams, sizes=st.lists(st.integers(1, 30), max_size=10))
def test_cuts_do_not_matter(stream: bytes, sizes: list[int]) -> None:
    """A conversation ends alike however the network slices what comes."""
    pieces, rest = [], stream
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    whole, sliced = _feed(ask(), [stream]), _feed(ask(), [*pieces, rest])

    assert _gist(sliced) == _gist(whole)


def _gist(told: Sequence[HttpProgress]) -> tuple[object, ...]:
    last = told[-1]
    done = [(progress.status, progress.body_bytes) for progress in told if progress.done]
    return last.failure, last.end, last.goaway, done, b"".join(progress.send for progress in told)
