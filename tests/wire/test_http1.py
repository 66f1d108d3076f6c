"""HTTP/1.1 conversations, the good and the absurd."""

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from exporter.model.connections import Announced, End
from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.target import HttpSettings
from exporter.wire.http import HttpProgress, converse, unexpected_status
from exporter.wire.http1 import Http1, read_keep_alive
from exporter.wire.whole import Whole, read_whole

_LARGE = 1 << 20
HTTP_REASONS = STAGE_REASONS[Stage.HTTP]
HEAD = b"HTTP/1.1 200 OK\r\n"
PLAIN = HEAD + b"Content-Length: 5\r\n\r\nhello"


def begin(settings: HttpSettings | None = None) -> Http1:
    """Give a conversation in which nothing was asked yet."""
    return Http1(settings or HttpSettings(), "site.test", 443, user_agent="tester")


def ask(method: str = "GET") -> Http1:
    """Give one whose first request is on its way."""
    conversation = begin(HttpSettings(method=method))
    conversation.ask()
    return conversation


def answered(
    status: int, body: int, *, version: str = "1.1", end: End | None = None, announced: Announced | None = None
) -> HttpProgress:
    """Give what is told of a complete answer."""
    return HttpProgress(True, None, status, version, body, end is None, end, announced or Announced(), begun=True)


REQUESTS = [
    pytest.param(
        HttpSettings(path="/healthz"),
        443,
        b"GET /healthz HTTP/1.1\r\nHost: site.test\r\nUser-Agent: tester\r\nAccept: */*\r\n"
        b"Connection: keep-alive\r\n\r\n",
        id="plain",
    ),
    pytest.param(
        HttpSettings(method="HEAD"),
        8443,
        b"HEAD / HTTP/1.1\r\nHost: site.test:8443\r\nUser-Agent: tester\r\nAccept: */*\r\n"
        b"Connection: keep-alive\r\n\r\n",
        id="another port",
    ),
    pytest.param(
        HttpSettings(method="POST", host="shop.test", headers=(("user-agent", "mine"), ("X-Probe", "1"))),
        8443,
        b"POST / HTTP/1.1\r\nHost: shop.test\r\nAccept: */*\r\nConnection: keep-alive\r\nContent-Length: 0\r\n"
        b"user-agent: mine\r\nX-Probe: 1\r\n\r\n",
        id="own headers and host",
    ),
]


@pytest.mark.parametrize(("settings", "port", "expected"), REQUESTS)
def test_request(settings: HttpSettings, port: int, expected: bytes) -> None:
    """The request says who asks, and the settings' own headers take the place of ours."""
    assert converse("http/1.1", settings, "site.test", port, user_agent="tester").ask() == expected


def test_host_of_an_address() -> None:
    """An IPv6 literal is bracketed, and its zone is nobody else's business."""
    request = converse("", HttpSettings(), "fe80::1%eth0", 443, user_agent="tester").ask()

    assert b"\r\nHost: [fe80::1]\r\n" in request


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(HttpSettings(path="/a b"), id="blank in the path"),
        pytest.param(HttpSettings(headers=(("X", "a\r\nb"),)), id="line break in a header"),
        pytest.param(HttpSettings(method="GET /"), id="blank in the method"),
        pytest.param(HttpSettings(path="/\N{SNOWMAN}"), id="path beyond ASCII"),
        pytest.param(HttpSettings(headers=(("Content-Length", "5"),)), id="length of a body that we do not send"),
    ],
)
def test_impossible_request(settings: HttpSettings) -> None:
    """Settings that make no request are an error of the caller's."""
    with pytest.raises(ValueError, match="no valid request"):
        begin(settings)


_CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\nA: b\r\n\r\n"
ANSWERS = [
    pytest.param("GET", PLAIN, answered(200, 5), id="content-length"),
    pytest.param("GET", _CHUNKED, answered(200, 8), id="chunked"),
    pytest.param(
        "HEAD",
        HEAD + b"Content-Length: 1000\r\n\r\n",
        answered(200, 0),
        id="HEAD has no body",
    ),
    pytest.param("GET", b"HTTP/1.1 204 No\r\n\r\n", answered(204, 0), id="204"),
    pytest.param(
        "GET",
        b"HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n",
        answered(304, 0),
        id="304",
    ),
    pytest.param(
        "GET",
        b"HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + PLAIN,
        answered(200, 5),
        id="interim answers",
    ),
    pytest.param(
        "GET",
        HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nok",
        answered(200, 2, end=End.CONNECTION_CLOSE),
        id="connection: close",
    ),
    pytest.param(
        "GET",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        answered(200, 2, version="1.0", end=End.HTTP_1_0),
        id="HTTP/1.0",
    ),
    pytest.param("GET", PLAIN + b"more", answered(200, 5, end=End.ERROR), id="bytes behind the end"),
    pytest.param(
        "GET",
        HEAD + b"Content-Length: %d\r\n\r\n" % _LARGE + bytes(_LARGE),
        answered(200, _LARGE),
        id="a MiB",
    ),
    pytest.param(
        "GET",
        b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
        answered(503, 0),
        id="503",
    ),
]


@pytest.mark.parametrize(("method", "answer", "expected"), ANSWERS)
def test_answer(method: str, answer: bytes, expected: HttpProgress) -> None:
    """Every way in which an answer may end is understood, and what is told of it is what came."""
    assert ask(method).receive(answer) == expected


@pytest.mark.parametrize(("method", "answer", "expected"), ANSWERS[:8])
def test_answer_in_single_bytes(method: str, answer: bytes, expected: HttpProgress) -> None:
    """The same, byte by byte."""
    asked = ask(method)
    steps = [asked.receive(bytes((byte,))) for byte in answer]

    assert steps[-1] == expected
    assert not any(step.done for step in steps[:-1])


def test_body_that_ends_with_the_connection() -> None:
    """Without a length the end of the stream is the end of the body, and no failure."""
    asked = ask()
    part = asked.receive(HEAD + b"\r\nsome body")

    assert (part.done, part.status, part.body_bytes) == (False, 200, 9)
    assert asked.receive_eof() == answered(200, 9, end=End.CLOSED)


FAILURES = [
    pytest.param(b"\x00\x01garbage\r\n\r\n", Reason.NOT_HTTP, id="garbage"),
    pytest.param(b"220 smtp.test ESMTP\r\n", Reason.NOT_HTTP, id="another protocol"),
    pytest.param(b"H2", Reason.NOT_HTTP, id="two bytes of another protocol"),
    pytest.param(b"HTTP/1.1 OK\r\n\r\n", Reason.MALFORMED, id="no status"),
    pytest.param(HEAD + b"Bad Header: x\r\n\r\n", Reason.MALFORMED, id="blank in a header's name"),
    pytest.param(HEAD + b"X: a\0b\r\n\r\n", Reason.MALFORMED, id="NUL in a header"),
    pytest.param(HEAD + b"Content-Length: five\r\n\r\n", Reason.MALFORMED, id="length in words"),
    pytest.param(HEAD + b"Content-Length: -1\r\n\r\n", Reason.MALFORMED, id="negative length"),
    pytest.param(HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", Reason.MALFORMED, id="length of 5000 digits"),
    pytest.param(HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", Reason.MALFORMED, id="two lengths"),
    pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", Reason.MALFORMED, id="chunk size in letters"),
    pytest.param(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n", Reason.MALFORMED, id="chunk of 2^160"
    ),
    pytest.param(b"HTTP/1.1 101 Switch\r\n\r\n", Reason.MALFORMED, id="switch that nobody asked for"),
    pytest.param(HEAD + b"X: " + b"x" * 70_000 + b"\r\n\r\n", Reason.TOO_LARGE, id="one endless header"),
    pytest.param(HEAD + b"X: y\r\n" * 20_000, Reason.TOO_LARGE, id="endless headers"),
    pytest.param(
        HEAD + b"Content-Encoding: gzip\r\nContent-Length: 2000000\r\n\r\n" + bytes(_LARGE + 1),
        Reason.TOO_LARGE,
        id="compressed beyond measure",
    ),
    pytest.param(b"HTTP/1.1 100 Wait\r\n\r\n" * 1000, Reason.FLOODED, id="endless interim answers"),
    pytest.param(HEAD + b"\r\n" + bytes(_LARGE + 1), Reason.TOO_LARGE, id="endless body"),
    pytest.param(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 20_000, Reason.TOO_LARGE, id="crumbs of a body"
    ),
]


@pytest.mark.parametrize(("answer", "reason"), FAILURES)
@pytest.mark.parametrize("size", [1 << 30, 4096], ids=["whole", "in pieces"])
def test_absurd_answer(answer: bytes, reason: Reason, size: int) -> None:
    """An answer that makes no sense or no end is a failure with its reason, and stays one."""
    asked = ask()
    progress = HttpProgress()
    for start in range(0, len(answer), size):
        progress = asked.receive(answer[start : start + size])

    assert progress.failure == Failure(Stage.HTTP, reason)
    assert asked.receive(PLAIN) == asked.receive_eof() == progress


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="no answer"),
        pytest.param(b"HTT", id="within the status line"),
        pytest.param(HEAD + b"X: ", id="within the headers"),
        pytest.param(HEAD + b"Content-Length: 9\r\n\r\nhello", id="body shorter than its length"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n8000000000000000\r\nhello", id="chunk of 2^63"),
    ],
)
def test_end_before_the_answer_is_complete(answer: bytes) -> None:
    """An answer that is cut off is no answer."""
    asked = ask()

    assert asked.receive(answer).failure is None
    assert asked.receive_eof().failure == Failure(Stage.HTTP, Reason.CLOSED)


@examples(max_examples=200, deadline=None)
@given(
    answer=st.one_of(
        st.binary(max_size=200),
        st.binary(max_size=100).map(lambda tail: HEAD + tail),
        st.tuples(st.sampled_from([PLAIN, _CHUNKED]), st.integers(0, 60), st.binary(max_size=5)).map(
            lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :]
        ),
    )
)
def test_no_answer_raises(answer: bytes) -> None:
    """Whatever comes, the conversation ends in an answer or a failure of the closed list, and nothing may follow."""
    asked = ask()
    told = [asked.receive(answer), asked.receive_eof(), asked.receive_eof()]

    assert sum(progress.done or progress.failure is not None for progress in told) >= 1
    assert all(progress.failure is None or progress.failure.reason in HTTP_REASONS for progress in told)
    assert all(progress.end is not None for progress in told[1:])
    assert not any(progress.done and progress.failure for progress in told)


@pytest.mark.parametrize(
    ("expected", "status", "detail"),
    [
        pytest.param((), 500, None, id="any will do"),
        pytest.param((200, 204), 204, None, id="one of them"),
        pytest.param((200, 204), 301, "301 instead of 200 or 204", id="another"),
    ],
)
def test_unexpected_status(expected: tuple[int, ...], status: int, detail: str | None) -> None:
    """A status is a failure only where the settings expect others."""
    failure = unexpected_status(HttpSettings(expect_status=expected), status)

    assert failure == (detail and Failure(Stage.HTTP, Reason.UNEXPECTED_STATUS, detail))


LAST = HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nok"
OLD = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n%s\r\nok"
ENDS = [
    pytest.param([PLAIN] * 5, None, id="kept alive"),
    pytest.param([LAST], End.CONNECTION_CLOSE, id="closed after the first"),
    pytest.param([PLAIN, PLAIN, LAST], End.MAX_REQUESTS, id="closed after the third"),
    pytest.param([OLD % b""], End.HTTP_1_0, id="HTTP/1.0"),
    pytest.param([OLD % b"Connection: keep-alive\r\n"] * 3, None, id="HTTP/1.0 with keep-alive"),
    pytest.param(
        [OLD % b"Connection: Keep-Alive\r\n", OLD % b""], End.MAX_REQUESTS, id="HTTP/1.0 that ends its keep-alive"
    ),
    pytest.param(
        [b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
        End.HTTP_1_0,
        id="chunks that HTTP/1.0 does not have",
    ),
    pytest.param(
        [HEAD + b"Connection: x, CLOSE\r\nContent-Length: 0\r\n\r\n"], End.CONNECTION_CLOSE, id="among others"
    ),
]


@pytest.mark.parametrize(("answers", "end"), ENDS)
def test_ends(answers: list[bytes], end: End | None) -> None:
    """A connection ends with the answer that says so, and by a rule of its own where that is not the first."""
    conversation = begin()
    told = []
    for answer in answers:
        conversation.ask()
        told.append(conversation.receive(answer))

    assert [progress.end for progress in told] == [None] * (len(answers) - 1) + [end]
    assert [progress.keep_alive for progress in told] == [True] * (len(answers) - 1) + [end is None]
    assert conversation.asked == len(answers)


@pytest.mark.parametrize("end", [End.CONNECTION_CLOSE, None], ids=["announced", "not announced"])
def test_no_request_out_of_turn(end: End | None) -> None:
    """Asking while an answer is due, or behind the last one, is a mistake of the caller's."""
    conversation = begin()
    conversation.ask()
    if end is not None:
        conversation.receive(LAST)

    with pytest.raises(RuntimeError):
        conversation.ask()


def test_close_while_idle() -> None:
    """A connection that closes behind an answer has ended, without a failure."""
    conversation = ask()
    conversation.receive(PLAIN)

    assert conversation.receive(b"") == HttpProgress()
    assert conversation.receive_eof() == conversation.receive_eof() == HttpProgress(end=End.CLOSED)


def test_close_that_was_announced() -> None:
    """The reason that was given is the one that stays."""
    conversation = ask()
    conversation.receive(LAST)

    assert conversation.receive_eof().end is End.CONNECTION_CLOSE


@pytest.mark.parametrize(
    ("part", "end"),
    [
        pytest.param(b"", End.IN_FLIGHT, id="no byte of an answer"),
        pytest.param(b"H", End.ERROR, id="a byte"),
        pytest.param(b"HTTP/1.1 102 Wait\r\n\r\n", End.ERROR, id="an interim answer"),
    ],
)
def test_close_in_flight(part: bytes, end: End) -> None:
    """A request that crossed with the close is told apart from a broken answer."""
    conversation = ask()
    conversation.receive(PLAIN)
    conversation.ask()
    conversation.receive(part)
    last = conversation.receive_eof()

    assert (last.failure, last.end, last.begun) == (Failure(Stage.HTTP, Reason.CLOSED), end, bool(part))


def test_later_body_that_ends_with_the_connection() -> None:
    """Such an answer ends the connection, and is not the first."""
    conversation = ask()
    conversation.receive(PLAIN)
    conversation.ask()
    conversation.receive(HEAD + b"\r\nsome body")

    assert conversation.receive_eof() == answered(200, 9, end=End.MAX_REQUESTS)


UNASKED = [
    pytest.param(b"", PLAIN, None, id="a response to no request"),
    pytest.param(PLAIN, b"", End.ERROR, id="a second response at once"),
    pytest.param(b"\r\n", b"", End.ERROR, id="an empty line at once"),
    pytest.param(b"", b"\0", None, id="a byte later on"),
]


@pytest.mark.parametrize(("behind", "later", "end"), UNASKED)
def test_unasked(behind: bytes, later: bytes, end: End | None) -> None:
    """Bytes behind an answer leave it complete, and are a failure of the idle connection."""
    conversation = ask()

    assert conversation.receive(PLAIN + behind) == answered(200, 5, end=end)
    told = conversation.receive(later)
    assert (told.failure, told.end) == (Failure(Stage.HTTP, Reason.UNASKED), End.ERROR)
    assert conversation.receive_eof() == told
    with pytest.raises(RuntimeError):
        conversation.ask()


def test_rest_of_a_body_in_the_next_answer() -> None:
    """A length that was too small shows in what is read as the next answer."""
    conversation = ask()
    conversation.receive(PLAIN)
    conversation.ask()

    assert conversation.receive(b"lo" + PLAIN).failure == Failure(Stage.HTTP, Reason.MALFORMED)


SAMPLED = HttpSettings(method="HEAD", large_path="/large", large_bytes=1000)


@pytest.mark.parametrize(
    ("size", "end", "read"),
    [
        pytest.param(1000, None, 1000, id="as large as we read"),
        pytest.param(1001, End.OWN_LIMIT, 1001, id="larger"),
        pytest.param(3 * _LARGE, End.OWN_LIMIT, 1100, id="far larger"),
    ],
)
def test_sample_of_a_larger_body(size: int, end: End | None, read: int) -> None:
    """A body beyond the bound is complete as far as we care, and what still comes of it is nobody's."""
    conversation = begin(SAMPLED)

    assert conversation.ask(SAMPLED.large_path).startswith(b"GET /large HTTP/1.1\r\n")
    conversation.receive(HEAD + b"Content-Length: %d\r\n\r\n" % size)
    assert conversation.receive(bytes(min(size, 1100))) == answered(200, read, end=end)
    if end is not None:
        assert conversation.receive(bytes(1000)) == conversation.receive_eof() == HttpProgress(end=end)


def test_close_that_we_asked_for() -> None:
    """A connection that the settings' own headers have closed is no server's doing."""
    conversation = begin(HttpSettings(headers=(("Connection", "close"),)))
    conversation.ask()

    assert conversation.receive(LAST).end is End.OWN_LIMIT


def test_switch_that_we_asked_for() -> None:
    """An accepted upgrade is an answer, and what follows is another protocol's."""
    headers = (("Connection", "upgrade"), ("Upgrade", "websocket"))
    conversation = begin(HttpSettings(headers=headers))
    conversation.ask()

    answer = b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x02hi"
    assert conversation.receive(answer) == answered(101, 0, end=End.OWN_LIMIT)
    assert conversation.receive(b"\x81\x02ho") == HttpProgress(end=End.OWN_LIMIT)


def test_upgrade_that_was_not_taken() -> None:
    """Without the switch it is an answer like any other."""
    conversation = begin(HttpSettings(headers=(("Connection", "upgrade"), ("Upgrade", "websocket"))))
    conversation.ask()

    assert conversation.receive(PLAIN) == answered(200, 5)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(b"timeout=5, max=100", Announced(5, 100), id="both"),
        pytest.param(b'max = 3 , Timeout="20"', Announced(20, 3), id="untidy"),
        pytest.param(b"timeout=0", Announced(0, None), id="nothing"),
        pytest.param(b"timeout=-1, max=1e9", Announced(), id="no numbers"),
        pytest.param(b"timeout=" + b"9" * 5000 + b", max=7", Announced(None, 7), id="absurd"),
        pytest.param("timeout=\N{SUPERSCRIPT TWO}".encode("latin-1"), Announced(), id="a digit of another kind"),
        pytest.param(b",,=;", Announced(), id="garbage"),
        pytest.param(b"timeout=5, timeout=6", Announced(5, None), id="twice"),
    ],
)
def test_keep_alive_header(value: bytes, expected: Announced) -> None:
    """What a server announces is read where it makes sense, and nothing is made of the rest."""
    assert read_keep_alive(value) == expected

    answer = HEAD + b"Content-Length: 0\r\nKeep-Alive: " + value + b"\r\n\r\n"
    assert ask().receive(answer) == answered(200, 0, announced=expected)


@examples(max_examples=100, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 40), max_size=12), answers=st.lists(st.sampled_from([PLAIN, _CHUNKED]), max_size=4)
)
def test_cuts_do_not_matter(sizes: list[int], answers: list[bytes]) -> None:
    """Answers are told alike however the network slices them."""
    whole, sliced = begin(), begin()
    for answer in [*answers, LAST]:
        whole.ask()
        sliced.ask()
        expected = whole.receive(answer)
        told = HttpProgress()
        rest = answer
        for size in sizes:
            piece, rest = rest[:size], rest[size:]
            told = sliced.receive(piece) if piece else told
        told = sliced.receive(rest) if rest else told

        assert told == expected


def test_at_a_glance() -> None:
    """An ordinary answer that came whole is read without h11; one that goes on, or ends otherwise, is not."""
    assert read_whole(PLAIN) == Whole(200, b"1.1", [(b"content-length", b"5")], 5)
    assert read_whole(PLAIN[:-1]) is None
    assert read_whole(PLAIN + b"H") is None


_NAMES = st.sampled_from(
    (b"Content-Length", b"content-length", b"Transfer-Encoding", b"Connection", b"Keep-Alive", b"Server", b"X a", b"")
)
_VALUES = st.sampled_from(
    (
        b"5",
        b" 5 ",
        b"5, 5",
        b"+5",
        b"05",
        b"",
        b"chunked",
        b"close",
        b"keep-alive",
        b"timeout=5, max=1",
        b"a\xe9",
        b"\0",
    )
)
_FIELDS = st.lists(st.tuples(_NAMES, st.sampled_from((b":", b": ", b" : ")), _VALUES).map(b"".join), max_size=4)
_STATUS_LINES = st.sampled_from(
    (b"HTTP/1.1 200 OK", b"HTTP/1.1 404", b"HTTP/1.0 200 OK", b"HTTP/1.1 204 No", b"HTTP/1.1 100 C", b"HTTP/1.1  200 x")
)
_BODIES = st.sampled_from((b"hello", b"", b"hell", b"hello!", b"5\r\nhello\r\n0\r\n\r\n"))
_ENDS = st.sampled_from((b"\r\n", b"\n"))


@given(_STATUS_LINES, _FIELDS, _ENDS, _BODIES, st.sampled_from(("GET", "HEAD")))
def test_in_one_piece_or_two(status: bytes, fields: list[bytes], end: bytes, body: bytes, method: str) -> None:
    """An answer that comes in one piece, which is read at a glance if it is ordinary, means the same as in two."""
    answer = end.join((status, *fields, b"Content-Length: 5", b"", body))
    told = []
    for pieces in ((answer,), (answer[:1], answer[1:])):
        conversation = ask(method)
        progress = [conversation.receive(piece) for piece in pieces][-1]
        told.append((progress, conversation.receive(b""), conversation.receive_eof()))

    assert told[0] == told[1]
