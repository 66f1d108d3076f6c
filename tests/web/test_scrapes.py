"""Expositions, made once for all who wait."""

import asyncio
import gzip
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from exporter.web.pieces import cut
from exporter.web.scrapes import Exposition, Scrapes, takes_gzip


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    """Return an executor of one thread."""
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param("gzip", True, id="what Prometheus sends"),
        pytest.param("gzip, deflate, br", True, id="what browsers send"),
        pytest.param("deflate;q=0.5, GZIP;q=0.1", True, id="in capitals, with a weight"),
        pytest.param("", False, id="no header"),
        pytest.param("identity", False, id="another coding"),
        pytest.param("gzip;q=0", False, id="refused"),
        pytest.param("gzip ; q=0.000, *", False, id="refused, though all else is taken"),
        pytest.param("*", True, id="anything"),
        pytest.param("*;q=0", False, id="nothing"),
        pytest.param("gzip;q=nonsense", False, id="a weight that is none"),
        pytest.param("gzipped", False, id="a longer word"),
        pytest.param(";;,,=;q", False, id="nonsense"),
    ],
)
def test_takes_gzip(header: str, expected: bool) -> None:
    """Gzip is used only where the client says that it takes it."""
    assert takes_gzip(header) is expected


@pytest.mark.parametrize(
    ("size", "packed", "encoding"),
    [
        pytest.param(100_000, True, "gzip", id="large and wanted"),
        pytest.param(100_000, False, "", id="large and not wanted"),
        pytest.param(1_000, True, "", id="too small to be worth it"),
    ],
)
async def test_packing(thread: ThreadPoolExecutor, size: int, packed: bool, encoding: str) -> None:
    """An exposition is packed where it is wanted and worth it, and unpacks to what was rendered."""
    body = b"x" * size
    found = await Scrapes(lambda accept: (cut(body), accept), thread).ask("text/plain", packed=packed)

    assert (found.content_type, found.encoding) == ("text/plain", encoding)
    assert (gzip.decompress(b"".join(found.body)) if encoding else b"".join(found.body)) == body


async def test_one_rendering_for_all_who_wait(thread: ThreadPoolExecutor) -> None:
    """Those who come while one is made wait for the next together, and nobody gets one begun before he asked."""
    begun, finish = threading.Event(), threading.Event()
    renderings = 0

    def render(accept: str) -> tuple[Sequence[bytes], str]:
        nonlocal renderings
        renderings += 1
        begun.set()
        finish.wait(10)
        return (str(renderings).encode(),), accept

    scrapes = Scrapes(render, thread)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        first = group.create_task(scrapes.ask("a", packed=False))
        assert await asyncio.to_thread(begun.wait, 10)
        later = [group.create_task(scrapes.ask("a", packed=False)) for _ in range(100)]
        other = group.create_task(scrapes.ask("b", packed=False))
        await asyncio.sleep(0)
        later[7].cancel()
        finish.set()

    assert first.result() == Exposition((b"1",), "a")
    assert {each.result() for each in later if not each.cancelled()} == {Exposition((b"2",), "a")}
    assert other.result() == Exposition((b"3",), "b")


async def test_a_failure_is_not_kept(thread: ThreadPoolExecutor) -> None:
    """A rendering that raises fails for those who waited, and the next is made anew."""
    errors = [ValueError("a bug")]

    def render(accept: str) -> tuple[Sequence[bytes], str]:
        if errors:
            raise errors.pop()
        return (b"fine",), accept

    scrapes = Scrapes(render, thread)
    with pytest.raises(ValueError, match="a bug"):
        await scrapes.ask("a", packed=False)

    assert await scrapes.ask("a", packed=False) == Exposition((b"fine",), "a")
