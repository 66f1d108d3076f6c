"""The pages, over real sockets."""

import asyncio
import gzip
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from exporter.web.door import Door
from exporter.web.server import serve
from tests.web.client import connected, fetch, pages, serving


@pytest.mark.parametrize(
    ("method", "path", "status", "starts"),
    [
        pytest.param("GET", "/metrics", 200, b"up 1\n", id="metrics"),
        pytest.param("GET", "/metrics?name=x", 200, b"up 1\n", id="metrics with a query"),
        pytest.param("HEAD", "/metrics", 200, b"", id="metrics, headers only"),
        pytest.param("POST", "/metrics", 405, b"405 Method Not Allowed\n", id="metrics cannot be written"),
        pytest.param("GET", "/-/healthy", 200, b"healthy\n", id="health"),
        pytest.param("HEAD", "/-/healthy", 200, b"", id="health, headers only"),
        pytest.param("DELETE", "/-/healthy", 405, b"405 Method Not Allowed\n", id="health cannot be deleted"),
        pytest.param("GET", "/-/ready", 200, b"ready\n", id="readiness"),
        pytest.param("GET", "/", 200, b"<!DOCTYPE html>", id="root"),
        pytest.param("GET", "/metrics/", 404, b"404 Not Found\n", id="a slash too many"),
        pytest.param("GET", "/%2e%2e/etc/passwd", 404, b"404 Not Found\n", id="nothing else"),
    ],
)
async def test_pages(method: str, path: str, status: int, starts: bytes) -> None:
    """Each page answers GET and HEAD, refuses other methods, and there are no others."""
    async with serving(pages()) as address:
        answer = await fetch(address, path, method)

    assert answer.status == status
    assert answer.body.startswith(starts)
    assert answer.headers["server"] == "tlsprobe"
    assert answer.headers.get("allow") == ("GET,HEAD" if status == 405 else None)


async def test_not_ready() -> None:
    """While we are not ready the answer is 503 and says why; health is not affected."""
    async with serving(pages(not_ready="first rounds to come")) as address:
        ready, healthy = await fetch(address, "/-/ready"), await fetch(address, "/-/healthy")

    assert (ready.status, ready.body) == (503, b"first rounds to come\n")
    assert healthy.status == 200


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        pytest.param(1, b"probing 1 target.", id="one"),
        pytest.param(3, b"probing 3 targets.", id="several"),
    ],
)
async def test_root(targets: int, words: bytes) -> None:
    """The root page tells version and number of targets, escaped, and links to the others."""
    async with serving(pages(targets=targets)) as address:
        answer = await fetch(address, "/")

    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert b"Version 1.2&lt;3, " + words in answer.body
    assert all(f'href="{link}"'.encode() in answer.body for link in ("metrics", "-/healthy", "-/ready"))


async def test_the_accept_header_chooses_the_exposition() -> None:
    """What renders the exposition sees the client's Accept header, and its content type goes out as it is."""
    kind = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    async with serving(pages()) as address:
        answer = await fetch(address, "/metrics", Accept=kind)

    assert answer.headers["content-type"] == kind


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        pytest.param("gzip", True, id="gzip"),
        pytest.param("gzip;q=0", False, id="anything but gzip"),
    ],
)
async def test_gzip(accepted: str, packed: bool) -> None:
    """A large exposition is packed for those who take it."""
    body = b"up 1\n" * 10_000
    async with serving(pages(body)) as address:
        answer = await fetch(address, "/metrics", Accept_Encoding=accepted)

    assert answer.headers.get("content-encoding") == ("gzip" if packed else None)
    assert (gzip.decompress(answer.body) if packed else answer.body) == body
    assert (len(answer.body) < len(body) / 10) is packed


async def test_several_addresses() -> None:
    """All listen addresses serve the same pages, IPv4 and IPv6."""
    async with serve(Door(("127.0.0.1:0", "[::1]:0", ":0")), pages()) as served:
        answers = [
            await fetch(each._replace(host=each.host.replace("::", "::1", each.host == "::")), "/metrics")
            for each in served.addresses
        ]

    assert [each.body for each in answers] == [b"up 1\n"] * 3


async def test_connections_are_reused() -> None:
    """A client may send one request after another, and several without waiting for the answers."""
    async with serving(pages()) as address, connected(address) as client:
        one = await client.ask("/-/healthy")
        two = await client.ask("/metrics")
        client.writer.write(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        many = [await client.answer() for _ in range(100)]

    assert (one.status, two.status) == (200, 200)
    assert {each.body for each in many} == {b"healthy\n"}


async def test_a_client_that_will_send_no_more() -> None:
    """A client that closes its side after its request still gets the answer, and then the connection ends."""
    body = b"up 1\n" * 1_000_000
    sent = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    async with serving(pages(body)) as address, connected(address, sent) as client:
        client.writer.write_eof()
        answer = await client.answer()
        assert await client.dropped() == 0

    assert answer.body == body


async def test_a_page_with_a_bug() -> None:
    """A page that raises is answered 500 without details, told in the log, and the server goes on."""

    def broken(accept: str) -> tuple[Sequence[bytes], str]:
        raise ValueError(accept)

    async with serving(replace(pages(), render=broken)) as address, connected(address) as client:
        with capture_logs() as lines:
            answer = await client.ask("/metrics", Accept="secret")
        after = await client.ask("/-/healthy")

    assert (answer.status, answer.body) == (500, b"500 Internal Server Error\n")
    assert [(line["event"], line["path"], line["log_level"]) for line in lines] == [
        ("page failed", "/metrics", "error")
    ]
    assert after.status == 200


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), id="a TLS ClientHello"),
        pytest.param(b"SSH-2.0-OpenSSH\r\n\r\n", id="another protocol"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nHost : x\r\n\r\n", id="a malformed header"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", id="a malformed length"),
        pytest.param(
            b"POST /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", id="a malformed chunk"
        ),
        pytest.param(b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", id="a path too long"),
    ],
)
async def test_what_is_no_request(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Anything else than HTTP is answered 400 and closed, and does not fill the log."""
    async with serving(pages()) as address, connected(address, sent) as client:
        assert (await client.answer()).status == 400
        assert await client.dropped() == 0

    assert caplog.records == []


async def test_a_long_rendering_holds_up_no_other_page() -> None:
    """While an exposition is made, health and readiness answer."""
    finish = threading.Event()

    def slow(accept: str) -> tuple[Sequence[bytes], str]:
        finish.wait(10)
        return (b"late 1\n",), accept or "text/plain"

    async with (
        asyncio.timeout(10),
        serving(replace(pages(), render=slow)) as address,
        asyncio.TaskGroup() as group,
    ):
        scrape = group.create_task(fetch(address, "/metrics"))
        others = [await fetch(address, path) for path in ("/-/healthy", "/-/ready", "/")]
        assert not scrape.done()
        finish.set()

    assert {each.status for each in others} == {200}
    assert scrape.result().body == b"late 1\n"
