"""Asking an HTTP proxy for a tunnel."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter import __version__
from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.target import Address, Endpoint, Target
from exporter.wire.prelude import Prelude, PreludeStep

OWN = Endpoint("192.0.2.7", 50000)
PROXY = Address("192.0.2.3", 3128)
TARGET = Target(name="shop", endpoint=Endpoint("shop.test", 443), server_name="shop.test", proxy=PROXY)
AGENT = f"User-Agent: tlsprobe/{__version__} (tls-resumption-exporter)\r\n\r\n".encode()


def begin(backend: Address) -> tuple[Prelude, bytes]:
    """Give a course whose request is on its way, and the request."""
    course = Prelude(replace(TARGET, proxy=PROXY), backend, OWN, PROXY)
    return course, course.start().send


def failed(reason: Reason, detail: str = "") -> PreludeStep:
    """Give a step that says that there will be no tunnel."""
    return PreludeStep(failure=Failure(Stage.PROXY, reason, detail))


@pytest.mark.parametrize(
    ("backend", "where"),
    [
        pytest.param(Address("192.0.2.1", 443), b"192.0.2.1:443", id="IPv4"),
        pytest.param(Address("2001:db8::1", 8443), b"[2001:db8::1]:8443", id="IPv6"),
        pytest.param(Address("fe80::1%eth0", 443), b"[fe80::1]:443", id="our own zone means nothing there"),
    ],
)
def test_request(backend: Address, where: bytes) -> None:
    """The request names the backend by its address, whatever the target's name stands for at the proxy."""
    expected = b"CONNECT " + where + b" HTTP/1.1\r\nHost: " + where + b"\r\n" + AGENT

    assert expected == begin(backend)[1]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(b"HTTP/1.1 200 Connection established\r\n\r\n", PreludeStep(done=True), id="yes"),
        pytest.param(b"HTTP/1.0 200 OK\r\nProxy-agent: x\r\n\r\n", PreludeStep(done=True), id="HTTP/1.0"),
        pytest.param(b"HTTP/1.1 204 fine\r\n\r\n", PreludeStep(done=True), id="another 2xx"),
        pytest.param(
            b"HTTP/1.1 100 wait\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", PreludeStep(done=True), id="an interim answer"
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nearly", PreludeStep(done=True, pending=b"early"), id="no body"
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", PreludeStep(done=True), id="no chunks either"
        ),
        pytest.param(
            b"HTTP/1.1 101 no\r\n\r\n", failed(Reason.MALFORMED, "no answer of HTTP's"), id="another protocol"
        ),
        pytest.param(b"HTTP/1.1 502 Bad\r\n\r\nsorry", failed(Reason.REJECTED, "status 502"), id="no"),
        pytest.param(b"HTTP/1.1 301 Moved\r\n\r\n", failed(Reason.REJECTED, "status 301"), id="elsewhere"),
        pytest.param(
            b"HTTP/1.1 407 x\r\n\r\n", failed(Reason.REJECTED, "407: the proxy wants a password"), id="password wanted"
        ),
        pytest.param(b"SSH-2.0-OpenSSH\r\n", failed(Reason.MALFORMED, "no answer of HTTP's"), id="no proxy"),
        pytest.param(b"HTTP/1.1 200", failed(Reason.CLOSED), id="half a line"),
        pytest.param(b"", failed(Reason.CLOSED), id="nothing"),
    ],
)
@pytest.mark.parametrize("cut", [pytest.param(1 << 20, id="whole"), pytest.param(1, id="byte by byte")])
def test_answers(answer: bytes, expected: PreludeStep, cut: int) -> None:
    """Any 2xx opens the tunnel behind its head, and any other status is a no."""
    course, _ = begin(Address("192.0.2.1", 443))
    step = PreludeStep()
    left = answer
    while left and not (step.done or step.failure):
        step, left = course.receive(left[:cut]), left[cut:]
    if not (step.done or step.failure):
        step = course.receive_eof()

    assert expected == (replace(step, pending=step.pending + left) if step.done else step)


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param(b"X-Pad: " + b"x" * 1000 + b"\r\n", id="a head without end"),
        pytest.param(b"\r\nHTTP/1.1 102 wait\r\n", id="interim answers without end"),
        pytest.param(b"x" * 1000, id="a line without end"),
    ],
)
def test_too_large(piece: bytes) -> None:
    """A proxy may say no more than 64 KiB before its yes."""
    course, _ = begin(Address("192.0.2.1", 443))
    step = course.receive(b"HTTP/1.1 102 wait\r\n")
    sent = 0
    while step.failure is None and sent < 1 << 17:
        step = course.receive(piece)
        sent += len(piece)

    assert step.failure is not None
    assert Reason.TOO_LARGE is step.failure.reason
    assert sent < 70000


@given(answers=st.lists(st.binary(max_size=60), max_size=4), head=st.sampled_from([b"", b"HTTP/1.1 "]))
def test_garbage(answers: list[bytes], head: bytes) -> None:
    """Whatever a proxy says opens the tunnel or is a failure of the closed list."""
    course, _ = begin(Address("192.0.2.1", 443))
    course.receive(head)
    for answer in answers:
        course.receive(answer)
    step = course.receive_eof()

    assert step.done or (step.failure is not None and step.failure.reason in STAGE_REASONS[Stage.PROXY])
