"""A client that does exactly what a test says."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from exporter.model.target import Address
from exporter.web.connections import Bounds
from exporter.web.door import Door
from exporter.web.pages import Pages
from exporter.web.pieces import cut
from exporter.web.server import serve

DEADLINE = 10.0
"""Seconds within which anything that a test waits for has to happen."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Client:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Send a request and return its answer; header names are given with underscores."""
        lines = [f"{method} {path} HTTP/1.1", "Host: x", *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items())]
        self.writer.write("\r\n".join([*lines, "", ""]).encode())
        return await self.answer(body=method != "HEAD")

    async def answer(self, *, body: bool = True) -> Answer:
        """Read one response."""
        async with asyncio.timeout(DEADLINE):
            first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            content = await self.reader.readexactly(int(headers["content-length"]) if body else 0)
        return Answer(int(first.split()[1]), headers, content)

    async def dropped(self) -> int:
        """Wait until the server ends the connection, and return how many bytes came before."""
        received = 0
        async with asyncio.timeout(DEADLINE):
            try:
                while chunk := await self.reader.read(65536):
                    received += len(chunk)
            except ConnectionError:
                return received
        return received


@asynccontextmanager
async def connected(address: Address, sent: bytes = b"") -> AsyncIterator[Client]:
    """Connect, send some bytes, and leave again at the end of the block."""
    async with asyncio.timeout(DEADLINE):
        # The small buffer makes a client that reads nothing stop the server soon.
        reader, writer = await asyncio.open_connection(address.host, address.port, limit=1024)
    try:
        writer.write(sent)
        yield Client(reader, writer)
    finally:
        writer.transport.abort()


async def sip(client: Client, pace: float) -> int:
    """Take an answer at so many bytes a second, and return how much there was when the server had enough of it."""
    received = 0
    try:
        while chunk := await client.reader.read(65536):
            received += len(chunk)
            await asyncio.sleep(len(chunk) / pace)
    except ConnectionError:
        return received
    return received


async def fetch(address: Address, path: str, method: str = "GET", **headers: str) -> Answer:
    """Return the answer to a single request on a connection of its own."""
    async with connected(address) as client:
        return await client.ask(path, method, **headers)


def pages(exposition: bytes = b"up 1\n", not_ready: str | None = None, targets: int = 3) -> Pages:
    """Return pages with these contents."""
    return Pages(lambda accept: (cut(exposition), accept or "text/plain"), lambda: not_ready, lambda: targets, "1.2<3")


@asynccontextmanager
async def serving(made: Pages, bounds: Bounds | None = None, door: Door | None = None) -> AsyncIterator[Address]:
    """Serve pages at an address of their own, and give that; a door is renewed meanwhile, and its addresses count."""
    async with serve(door or Door(("127.0.0.1:0",)), made, bounds or Bounds()) as served:
        renewing = asyncio.get_running_loop().create_task(served.renew())
        try:
            yield served.addresses[0]
        finally:
            renewing.cancel()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something to come true."""
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 -- nobody tells of it
            await asyncio.sleep(0.005)
