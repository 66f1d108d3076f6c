"""TLS clients that are silent, slow, half-open or too many, and large answers."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from exporter.model.target import Address
from exporter.web.connections import Bounds
from exporter.web.contexts import Choices, make_context, show_certificate
from exporter.web.door import Door
from exporter.web.lock import Lock, TlsLock
from exporter.web.pages import Pages
from tests.servers.certificates import Authority, Leaf
from tests.web.client import DEADLINE, Client, connected, pages, serving, sip

HELLO = bytes.fromhex("1603010200010001fc0303") + bytes(200)
LARGE = b"up 1\n" * 1_000_000
SILENT = [
    pytest.param(b"", id="nothing"),
    pytest.param(HELLO[:3], id="three bytes"),
    pytest.param(HELLO, id="half a ClientHello"),
]


@pytest.fixture
def lock(leaf: Leaf) -> Lock:
    """A lock of TLS alone."""
    context = make_context(Choices())
    show_certificate(context, leaf.certificate_file.read_bytes(), leaf.key_file.read_bytes())
    return Lock(TlsLock(context))


@pytest.fixture
def trusting(authority: Authority) -> ssl.SSLContext:
    """A client's context."""
    return ssl.create_default_context(cafile=authority.file)


@asynccontextmanager
async def sealed(lock: Lock, made: Pages, bounds: Bounds | None = None) -> AsyncIterator[Address]:
    """Serve pages over TLS."""
    async with serving(made, bounds, Door(("127.0.0.1:0",), lock=lock)) as address:
        yield address


@asynccontextmanager
async def shaken(address: Address, context: ssl.SSLContext, sent: bytes = b"") -> AsyncIterator[Client]:
    """Connect, shake hands, and send some bytes."""
    async with asyncio.timeout(DEADLINE):
        reader, writer = await asyncio.open_connection(address.host, address.port, ssl=context, limit=1024)
    try:
        writer.write(sent)
        yield Client(reader, writer)
    finally:
        writer.transport.abort()


@pytest.mark.parametrize("sent", SILENT)
async def test_five_hundred_silent_clients(lock: Lock, trusting: ssl.SSLContext, sent: bytes) -> None:
    """While five hundred clients say little or nothing, a scrape is answered, again and again, on new connections."""
    async with sealed(lock, pages()) as address, AsyncExitStack() as stack:
        for _ in range(500):
            await stack.enter_async_context(connected(address, sent))
        for _ in range(5):
            async with shaken(address, trusting) as client:
                assert (await client.ask("/metrics")).body == b"up 1\n"


@pytest.mark.parametrize("sent", SILENT)
async def test_silent_clients_are_dropped(lock: Lock, sent: bytes) -> None:
    """A client that does not complete its handshake in time is dropped."""
    async with sealed(lock, pages(), Bounds(request_seconds=0.2)) as address, connected(address, sent) as client:
        assert await client.dropped() == 0


async def test_a_handshake_does_not_prolong_the_time_for_a_request(lock: Lock, trusting: ssl.SSLContext) -> None:
    """A client that has shaken hands and then asks for nothing is dropped like any other."""
    async with sealed(lock, pages(), Bounds(request_seconds=0.5)) as address, shaken(address, trusting) as client:
        assert await client.dropped() == 0


async def test_a_large_answer(lock: Lock, trusting: ssl.SSLContext) -> None:
    """An answer larger than all buffers arrives whole, and the connection goes on."""
    async with sealed(lock, pages(LARGE)) as address, shaken(address, trusting) as client:
        answers = [await client.ask("/metrics") for _ in range(2)]

    assert [each.body == LARGE for each in answers] == [True, True]


async def test_several_requests_at_once(lock: Lock, trusting: ssl.SSLContext) -> None:
    """Requests may come together, or cut anywhere."""
    request = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n"
    async with sealed(lock, pages()) as address, shaken(address, trusting, request * 20) as client:
        many = [await client.answer() for _ in range(20)]
        for byte in request:
            client.writer.write(bytes((byte,)))
            await client.writer.drain()
        last = await client.answer()

    assert {each.body for each in (*many, last)} == {b"healthy\n"}


async def test_a_slow_reader(lock: Lock, trusting: ssl.SSLContext) -> None:
    """A client that is slow to take its answer is dropped in time, and others get theirs meanwhile."""
    sent = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    body = LARGE * 12
    async with (
        sealed(lock, pages(body), Bounds(write_seconds=0.5)) as address,
        shaken(address, trusting, sent) as reader,
        asyncio.TaskGroup() as group,
    ):
        slow = group.create_task(sip(reader, 20e6))
        async with shaken(address, trusting) as other:
            assert (await other.ask("/-/healthy")).status == 200

    assert slow.result() < len(body)


async def test_answers_that_pile_up(lock: Lock, trusting: ssl.SSLContext) -> None:
    """What waits to be encrypted counts as pending, so that the slowest readers are dropped beyond the bound."""
    sent = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    bounds = Bounds(pending_bytes=len(LARGE) * 4)
    async with sealed(lock, pages(LARGE * 4), bounds) as address, AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(shaken(address, trusting, sent)) for _ in range(6)]
        async with shaken(address, trusting) as other:
            assert (await other.ask("/metrics")).body == LARGE * 4
        assert await readers[0].dropped() < len(LARGE) * 4


@pytest.mark.parametrize(
    "sent",
    [
        *SILENT,
        pytest.param(b"SSH-2.0-OpenSSH\r\n", id="another protocol"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="plain HTTP"),
    ],
)
async def test_the_end_waits_for_nobody(lock: Lock, trusting: ssl.SSLContext, sent: bytes) -> None:
    """The server ends soon, whoever is connected, and leaves no task behind."""
    tasks = asyncio.all_tasks()
    async with AsyncExitStack() as clients, asyncio.timeout(DEADLINE):
        async with sealed(lock, pages(LARGE)) as address:
            for _ in range(5):
                await clients.enter_async_context(connected(address, sent))
            open_one = await clients.enter_async_context(shaken(address, trusting))
            assert (await open_one.ask("/-/healthy")).status == 200
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(address.host, address.port)
        if left := asyncio.all_tasks() - tasks:
            _, left = await asyncio.wait(left, timeout=1)

    assert left == set()


async def test_farewell(lock: Lock, trusting: ssl.SSLContext) -> None:
    """A connection that is closed after its answer ends with TLS's own farewell, so that nobody takes it for cut."""
    async with sealed(lock, pages()) as address, shaken(address, trusting) as client:
        answer = await client.ask("/metrics", Connection="close")
        assert await client.dropped() == 0

    assert answer.status == 200
    assert client.reader.exception() is None
