"""What the one handler answers."""

import pytest

from exporter.reference.answers import BODY, answer, refuse_head


@pytest.mark.parametrize(
    ("head", "status", "keep"),
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: x", b"200", True, id="any request"),
        pytest.param(b"GET /a?b=c HTTP/1.1", b"200", True, id="any path, no fields"),
        pytest.param(b"GET / HTTP/1.1\r\nConnection: keep-alive", b"200", True, id="keep-alive asked for"),
        pytest.param(b"GET / HTTP/1.1\r\nCONNECTION: foo, Close", b"200", False, id="close asked for"),
        pytest.param(b"GET / HTTP/1.1\r\nX-Connection: close", b"200", True, id="close in another field"),
        pytest.param(b"GET / HTTP/1.0", b"200", False, id="HTTP/1.0"),
        pytest.param(b"HEAD / HTTP/1.1", b"200", True, id="HEAD"),
        pytest.param(b"GET / HTTP/1.1\r\nContent-Length: 0", b"200", True, id="no content, and said so"),
        pytest.param(b"GET / HTTP/1.1\r\nContent-Length: 5", b"413", False, id="content"),
        pytest.param(b"GET / HTTP/1.1\r\ntransfer-encoding: chunked", b"413", False, id="chunked content"),
        pytest.param(b"POST / HTTP/1.1", b"501", False, id="another method"),
        pytest.param(b"GET /", b"400", False, id="HTTP/0.9"),
        pytest.param(b"GET / HTTP/2.0", b"400", False, id="another HTTP"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01", b"400", False, id="a ClientHello"),
        pytest.param(b"", b"400", False, id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nno field", b"400", False, id="a line that is no field"),
    ],
)
def test_answer(head: bytes, status: bytes, keep: bool) -> None:
    """Every head gets a complete answer, which says so if it is the last one."""
    reply = answer(head)
    fields, _, body = reply.data.partition(b"\r\n\r\n")

    assert fields.startswith(b"HTTP/1.1 " + status + b" ")
    assert keep is reply.keep
    assert keep is (b"\r\nConnection: close" not in fields)
    if not head.startswith(b"HEAD"):
        assert b"\r\nContent-Length: %d" % len(body) in fields


@pytest.mark.parametrize(
    ("request_line", "length", "filler"),
    [
        pytest.param(b"GET /bytes/5 HTTP/1.1", 5, 5, id="a few"),
        pytest.param(b"GET /bytes/1073741824 HTTP/1.1", 1 << 30, 1 << 30, id="the most"),
        pytest.param(b"HEAD /bytes/5 HTTP/1.1", 5, 0, id="HEAD brings none"),
        pytest.param(b"GET /bytes/1073741825 HTTP/1.1", 1024, 0, id="one more than the most"),
        pytest.param(b"GET /bytes/99999999999999999999 HTTP/1.1", 1024, 0, id="far more"),
        pytest.param(b"GET /bytes/ HTTP/1.1", 1024, 0, id="no number"),
        pytest.param(b"GET /bytes/-1 HTTP/1.1", 1024, 0, id="no length"),
    ],
)
def test_large(request_line: bytes, length: int, filler: int) -> None:
    """A path that asks for bytes gets as many, within a bound; any other path gets the ordinary body."""
    reply = answer(request_line)

    assert b"\r\nContent-Length: %d\r\n" % length in reply.data
    assert filler == reply.filler
    assert reply.keep


def test_head_has_no_body() -> None:
    """HEAD tells the length of the body that GET would bring, and brings none."""
    assert answer(b"GET / HTTP/1.1").data == answer(b"HEAD / HTTP/1.1").data + BODY
    assert len(BODY) == 1024


def test_long_head() -> None:
    """A head that is too long is the last one of its connection."""
    assert refuse_head().data.startswith(b"HTTP/1.1 431 ")
    assert not refuse_head().keep
