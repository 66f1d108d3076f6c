"""Bodies in pieces, from the thread that makes them to the client that takes them."""

import asyncio
import gzip
import sys

import pytest
from aiohttp.abc import AbstractStreamWriter
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict
from structlog.testing import capture_logs

from exporter.web.pieces import SIZE, Pieces, body_of, cut, pack
from tests.web.client import connected, fetch, pages, serving, until

LARGE = bytes(range(256)) * 40_000
SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


@given(pieces=st.lists(st.binary(max_size=300)), level=st.integers(1, 9))
def test_packed_pieces_unpack_to_the_whole(pieces: list[bytes], level: int) -> None:
    """However a body is cut, it is one gzip file, and none of its pieces is empty."""
    packed = pack(pieces, level)

    assert gzip.decompress(b"".join(packed)) == b"".join(pieces)
    assert all(packed)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        pytest.param(0, [], id="nothing"),
        pytest.param(SIZE, [SIZE], id="one"),
        pytest.param(SIZE + 1, [SIZE, 1], id="one and a byte"),
    ],
)
def test_cut(size: int, expected: list[int]) -> None:
    """A body is cut into pieces of the same size, and a rest."""
    assert list(map(len, cut(LARGE[:size]))) == expected


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param((), b"", id="none"),
        pytest.param((b"abc",), b"abc", id="one"),
    ],
)
def test_small_bodies_go_out_whole(pieces: tuple[bytes, ...], expected: bytes) -> None:
    """A body of a single piece leaves with its headers."""
    assert body_of(pieces) == expected


def test_what_is_left() -> None:
    """Before it is sent, all of a body is left, and it can be read as text."""
    body = body_of((b"ab", b"c"))

    assert isinstance(body, Pieces)
    assert (body.left, body.size, body.decode()) == (3, 3, "abc")


async def test_a_large_answer_arrives_whole() -> None:
    """Pieces add up to the body, with its length and content type in the headers; HEAD has those alone."""
    async with serving(pages(LARGE)) as address:
        whole, head = await fetch(address, "/metrics"), await fetch(address, "/metrics", "HEAD")

    assert whole.body == LARGE
    assert head.body == b""
    for answer in (whole, head):
        assert (answer.headers["content-length"], answer.headers["content-type"]) == (str(len(LARGE)), "text/plain")


class Writer(AbstractStreamWriter):
    """A connection that takes everything at once, and notes how many turns others had before each piece."""

    def __init__(self) -> None:
        self.turns = 0
        self.taken: list[tuple[int, bytes]] = []

    async def write(self, chunk: bytes | bytearray | memoryview) -> None:
        """Take a piece."""
        self.taken.append((self.turns, bytes(chunk)))

    async def write_eof(self, chunk: bytes = b"") -> None:
        """Take the end."""

    async def drain(self) -> None:
        """Wait for nothing."""

    def enable_compression(self, encoding: str = "deflate", strategy: int | None = None) -> None:
        """Do nothing."""

    def enable_chunking(self) -> None:
        """Do nothing."""

    async def write_headers(self, status_line: str, headers: CIMultiDict[str]) -> None:
        """Take headers."""


async def test_others_have_their_turn_between_pieces() -> None:
    """However fast a client takes an answer, others go on after each piece of it."""
    writer = Writer()

    async def others() -> None:
        while True:
            await asyncio.sleep(0)
            writer.turns += 1

    other = asyncio.get_running_loop().create_task(others())
    await asyncio.sleep(0)
    body = Pieces((b"a", b"b", b"c"))
    await body.write(writer)
    other.cancel()

    assert writer.taken == [(0, b"a"), (1, b"b"), (2, b"c")]
    assert body.left == 0


async def test_a_client_that_leaves_in_the_middle() -> None:
    """What is left of an answer is given up when its client has gone, and that is nobody's fault."""
    async with serving(pages(LARGE)) as address:
        with capture_logs() as lines:
            async with connected(address, SCRAPE) as client:
                await client.reader.readexactly(1000)
            await until(lambda: bool(lines))

    assert [(line["event"], line["log_level"]) for line in lines] == [("client left before its answer", "debug")]


async def test_threads_have_short_turns_while_pages_are_served() -> None:
    """A thread that computes gives way sooner than usual for as long as there is a server."""
    usual = sys.getswitchinterval()
    async with serving(pages()):
        meanwhile = sys.getswitchinterval()

    assert meanwhile < usual == sys.getswitchinterval()
