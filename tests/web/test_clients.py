"""Clients that are silent, slow, half-open or too many."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import pytest

from exporter.model.target import Address
from exporter.web.connections import Bounds
from exporter.web.door import Door
from tests.web.client import DEADLINE, Client, connected, fetch, pages, serving, sip, until

SOON = 0.3
SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE = b"up 1\n" * 2_000_000
HALVES = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"GET /metr", id="half a line"),
    pytest.param(b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept", id="half a header"),
]


@asynccontextmanager
async def crowd(address: Address, number: int, sent: bytes) -> AsyncIterator[list[Client]]:
    """Open many connections that all send the same and no more."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(connected(address, sent)) for _ in range(number)]


@pytest.mark.parametrize("number", [pytest.param(20, id="20"), pytest.param(500, id="500, more than are let in")])
@pytest.mark.parametrize("sent", HALVES)
async def test_half_requests_hold_up_no_scrape(number: int, sent: bytes) -> None:
    """However many clients send half a request, a good one is served at once, again and again."""
    async with serving(pages()) as address, crowd(address, number, sent):
        answers = [await fetch(address, "/metrics") for _ in range(20)]

    assert {each.body for each in answers} == {b"up 1\n"}


async def test_a_scraper_keeps_its_connection_in_a_crowd() -> None:
    """When there are too many, those that never asked for anything go before those that did."""
    bounds = Bounds(connections=10, request_seconds=60)
    async with serving(pages(), bounds) as address, connected(address) as scraper:
        await scraper.ask("/metrics")
        async with crowd(address, 30, b"GET /") as clients:
            answer = await scraper.ask("/metrics")
            assert [await each.dropped() for each in clients[:20]] == [0] * 20

    assert answer.status == 200


@pytest.mark.parametrize("sent", HALVES)
async def test_half_requests_are_dropped(sent: bytes) -> None:
    """A client that does not complete its request in time is dropped."""
    bounds = Bounds(request_seconds=SOON)
    async with serving(pages(), bounds) as address, connected(address, sent) as client:
        begun = time.monotonic()
        assert await client.dropped() == 0

    assert time.monotonic() - begun > SOON / 2


async def test_one_byte_at_a_time() -> None:
    """Bytes that trickle in do not prolong the time for a request, neither the first nor a later one."""
    bounds = Bounds(request_seconds=SOON)
    async with serving(pages(), bounds) as address, asyncio.timeout(DEADLINE):
        for earlier in (0, 1):
            async with connected(address) as client, asyncio.TaskGroup() as group:
                for _ in range(earlier):
                    await client.ask("/-/healthy")
                trickling = group.create_task(trickle(client))
                assert await client.dropped() == 0
                trickling.cancel()


async def trickle(client: Client) -> None:
    """Send a request that never ends, slowly."""
    client.writer.write(b"GET /metrics HTTP/1.1\r\nX-Long: ")
    while not client.writer.is_closing():
        client.writer.write(b"x")
        await asyncio.sleep(0.02)


async def test_idle_connections_are_dropped() -> None:
    """A connection without a further request is dropped after the idle time, and not before it."""
    bounds = Bounds(request_seconds=4, idle_seconds=SOON)
    async with serving(pages(), bounds) as address, connected(address) as client:
        await client.ask("/-/healthy")
        answered = time.monotonic()
        assert await client.dropped() == 0

    assert SOON / 2 < time.monotonic() - answered < 3


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET / HTTP/1.1\r\n" + b"X-Fill: aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" * 10_000, id="many headers"),
        pytest.param(b"GET / HTTP/1.1\r\nX-Fill: " + b"a" * 400_000, id="a long header"),
        pytest.param(b"a" * 400_000, id="a long line"),
    ],
)
async def test_large_requests_are_dropped(sent: bytes) -> None:
    """A request whose headers never end is dropped for its size, long before its deadline."""
    async with serving(pages()) as address, connected(address, sent) as client:
        begun = time.monotonic()
        assert await client.dropped() < 1000

    assert time.monotonic() - begun < 5


async def test_a_body_that_never_comes() -> None:
    """A request that announces a body gets its answer without it."""
    sent = b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    async with serving(pages()) as address, connected(address, sent) as client:
        assert (await client.answer()).status == 200
        assert await client.dropped() == 0


async def test_slow_readers() -> None:
    """A client that is slow to take a large answer is dropped in time, and others get theirs meanwhile."""
    bounds = Bounds(write_seconds=1)
    async with (
        serving(pages(LARGE), bounds) as address,
        crowd(address, 5, SCRAPE) as readers,
        asyncio.TaskGroup() as group,
    ):
        slow = [group.create_task(sip(each, 2e6)) for each in readers]
        begun = time.monotonic()
        answer = await fetch(address, "/metrics")
        took = time.monotonic() - begun

    assert answer.body == LARGE
    assert took < 2
    assert all(each.result() < len(LARGE) for each in slow)


async def test_answers_that_pile_up() -> None:
    """Beyond the bound for what is pending, the slowest readers are dropped at once."""
    bounds = Bounds(pending_bytes=len(LARGE))
    async with serving(pages(LARGE), bounds) as address, crowd(address, 6, SCRAPE) as readers:
        assert (await fetch(address, "/-/healthy")).status == 200
        assert (await fetch(address, "/metrics")).body == LARGE
        assert await readers[0].dropped() < len(LARGE)


async def test_a_full_house_at_work() -> None:
    """Clients that wait for their answer are not dropped for others: who comes is turned away at once."""
    begun, finish = [], asyncio.Event()

    async def reload() -> None:
        begun.append(True)
        await finish.wait()

    bounds = Bounds(connections=3)
    door = Door(("127.0.0.1:0",), lifecycle=True)
    asked = b"POST /-/reload HTTP/1.1\r\nHost: x\r\n\r\n"
    async with (
        serving(replace(pages(), reload=reload), bounds, door) as address,
        crowd(address, 3, asked) as waiting,
    ):
        await until(lambda: len(begun) == 3)
        async with connected(address) as refused:
            assert await refused.dropped() == 0
        finish.set()
        assert [(await each.answer()).body for each in waiting] == [b"reloaded\n"] * 3
        assert (await fetch(address, "/-/healthy")).status == 200


@pytest.mark.parametrize(
    "sent",
    [
        *HALVES,
        pytest.param(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n", id="an idle connection"),
        pytest.param(SCRAPE, id="a reader that takes nothing"),
    ],
)
async def test_the_end_waits_for_nobody(sent: bytes) -> None:
    """The server ends within a second and a half, whoever is connected, and leaves no task behind."""
    tasks = asyncio.all_tasks()
    async with AsyncExitStack() as clients:
        async with serving(pages(LARGE)) as address:
            await clients.enter_async_context(crowd(address, 10, sent))
            await fetch(address, "/-/healthy")
            begun = time.monotonic()
        took = time.monotonic() - begun
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(address.host, address.port)
        if left := asyncio.all_tasks() - tasks:
            _, left = await asyncio.wait(left, timeout=1)

    assert took < 1.5
    assert left == set()


async def test_the_end_is_the_end_of_half_taken_answers() -> None:
    """What a client has not taken when the server ends is not sent on afterwards."""
    body = LARGE * 3
    async with AsyncExitStack() as clients:
        async with serving(pages(body)) as address:
            reader = await clients.enter_async_context(connected(address, SCRAPE))
            await reader.reader.readexactly(1000)

        assert await reader.dropped() < len(body) / 2
