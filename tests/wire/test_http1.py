"""HTTP/1.1 answers, the good and the absurd."""

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.target import HttpSettings
from exporter.wire.http1 import Exchange, HttpProgress, unexpected_status

_LARGE = 1 << 20
HEAD = b"HTTP/1.1 200 OK\r\n"
PLAIN = HEAD + b"Content-Length: 5\r\n\r\nhello"


def exchange(method: str = "GET") -> Exchange:
    """Give an exchange whose request is on its way."""
    return Exchange(HttpSettings(method=method), "site.test", 443, user_agent="tester")


REQUESTS = [
    pytest.param(
        HttpSettings(path="/healthz"),
        443,
        b"GET /healthz HTTP/1.1\r\nHost: site.test\r\nUser-Agent: tester\r\nAccept: */*\r\n\r\n",
        id="plain",
    ),
    pytest.param(
        HttpSettings(method="HEAD"),
        8443,
        b"HEAD / HTTP/1.1\r\nHost: site.test:8443\r\nUser-Agent: tester\r\nAccept: */*\r\n\r\n",
        id="another port",
    ),
    pytest.param(
        HttpSettings(method="POST", host="shop.test", headers=(("user-agent", "mine"), ("X-Probe", "1"))),
        8443,
        b"POST / HTTP/1.1\r\nHost: shop.test\r\nAccept: */*\r\nContent-Length: 0\r\n"
        b"user-agent: mine\r\nX-Probe: 1\r\n\r\n",
        id="own headers and host",
    ),
]


@pytest.mark.parametrize(("settings", "port", "expected"), REQUESTS)
def test_request(settings: HttpSettings, port: int, expected: bytes) -> None:
    """The request says who asks, and the settings' own headers take the place of ours."""
    assert Exchange(settings, "site.test", port, user_agent="tester").request == expected


def test_host_of_an_address() -> None:
    """An IPv6 literal is bracketed, and its zone is nobody else's business."""
    request = Exchange(HttpSettings(), "fe80::1%eth0", 443, user_agent="tester").request

    assert b"\r\nHost: [fe80::1]\r\n" in request


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(HttpSettings(path="/a b"), id="blank in the path"),
        pytest.param(HttpSettings(headers=(("X", "a\r\nb"),)), id="line break in a header"),
        pytest.param(HttpSettings(method="GET /"), id="blank in the method"),
        pytest.param(HttpSettings(path="/\N{SNOWMAN}"), id="path beyond ASCII"),
    ],
)
def test_impossible_request(settings: HttpSettings) -> None:
    """Settings that make no request are an error of the caller's."""
    with pytest.raises(ValueError, match="no valid request"):
        Exchange(settings, "site.test", 443, user_agent="tester")


_CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\nA: b\r\n\r\n"
ANSWERS = [
    pytest.param("GET", PLAIN, HttpProgress(True, None, 200, "1.1", 5, True), id="content-length"),
    pytest.param("GET", _CHUNKED, HttpProgress(True, None, 200, "1.1", 8, True), id="chunked"),
    pytest.param(
        "HEAD",
        HEAD + b"Content-Length: 1000\r\n\r\n",
        HttpProgress(True, None, 200, "1.1", 0, True),
        id="HEAD has no body",
    ),
    pytest.param("GET", b"HTTP/1.1 204 No\r\n\r\n", HttpProgress(True, None, 204, "1.1", 0, True), id="204"),
    pytest.param(
        "GET",
        b"HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n",
        HttpProgress(True, None, 304, "1.1", 0, True),
        id="304",
    ),
    pytest.param(
        "GET",
        b"HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + PLAIN,
        HttpProgress(True, None, 200, "1.1", 5, True),
        id="interim answers",
    ),
    pytest.param(
        "GET",
        HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nok",
        HttpProgress(True, None, 200, "1.1", 2, False),
        id="connection: close",
    ),
    pytest.param(
        "GET",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        HttpProgress(True, None, 200, "1.0", 2, False),
        id="HTTP/1.0",
    ),
    pytest.param("GET", PLAIN + b"more", HttpProgress(True, None, 200, "1.1", 5, False), id="bytes behind the end"),
    pytest.param(
        "GET",
        HEAD + b"Content-Length: %d\r\n\r\n" % _LARGE + bytes(_LARGE),
        HttpProgress(True, None, 200, "1.1", _LARGE, True),
        id="a MiB",
    ),
    pytest.param(
        "GET",
        b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
        HttpProgress(True, None, 503, "1.1", 0, True),
        id="503",
    ),
]


@pytest.mark.parametrize(("method", "answer", "expected"), ANSWERS)
def test_answer(method: str, answer: bytes, expected: HttpProgress) -> None:
    """Every way in which an answer may end is understood, and what is told of it is what came."""
    assert exchange(method).receive(answer) == expected


@pytest.mark.parametrize(("method", "answer", "expected"), ANSWERS[:8])
def test_answer_in_single_bytes(method: str, answer: bytes, expected: HttpProgress) -> None:
    """The same, byte by byte."""
    asked = exchange(method)
    steps = [asked.receive(bytes((byte,))) for byte in answer]

    assert steps[-1] == expected
    assert not any(step.done for step in steps[:-1])


def test_body_that_ends_with_the_connection() -> None:
    """Without a length the end of the stream is the end of the body, and no failure."""
    asked = exchange()
    part = asked.receive(HEAD + b"\r\nsome body")

    assert (part.done, part.status, part.body_bytes) == (False, 200, 9)
    assert asked.receive_eof() == HttpProgress(True, None, 200, "1.1", 9, False)


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
    pytest.param(b"HTTP/1.1 100 Wait\r\n\r\n" * 1000, Reason.TOO_LARGE, id="endless interim answers"),
    pytest.param(HEAD + b"\r\n" + bytes(_LARGE + 1), Reason.TOO_LARGE, id="endless body"),
    pytest.param(
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 20_000, Reason.TOO_LARGE, id="crumbs of a body"
    ),
]


@pytest.mark.parametrize(("answer", "reason"), FAILURES)
@pytest.mark.parametrize("size", [1 << 30, 4096], ids=["whole", "in pieces"])
def test_absurd_answer(answer: bytes, reason: Reason, size: int) -> None:
    """An answer that makes no sense or no end is a failure with its reason, and stays one."""
    asked = exchange()
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
    asked = exchange()

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
    """Whatever comes, the exchange ends in an answer or a failure of the closed list."""
    asked = exchange()
    asked.receive(answer)
    end = asked.receive_eof()

    assert end.done is (end.failure is None)
    assert end.failure is None or end.failure.reason in STAGE_REASONS[Stage.HTTP]


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
