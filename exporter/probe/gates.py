"""One handshake in flight per address, over all targets: a hundred names on one ingress share its address."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from exporter.model.target import Address


class Gates:
    """A gate for each address that somebody stands at; none is kept for the others."""

    def __init__(self) -> None:
        self._gates: dict[Address, tuple[asyncio.Lock, int]] = {}

    async def enter(self, address: Address) -> None:
        """Wait until nobody else is at the address; who has entered must leave."""
        lock, guests = self._gates.get(address) or (asyncio.Lock(), 0)
        self._gates[address] = (lock, guests + 1)
        try:
            await lock.acquire()
        except BaseException:
            self._go(address)
            raise

    def leave(self, address: Address) -> None:
        """Let the next one in."""
        self._gates[address][0].release()
        self._go(address)

    @asynccontextmanager
    async def at(self, address: Address) -> AsyncIterator[None]:
        """Stand at an address while a block runs."""
        await self.enter(address)
        try:
            yield
        finally:
            self.leave(address)

    def _go(self, address: Address) -> None:
        lock, guests = self._gates[address]
        if guests > 1:
            self._gates[address] = (lock, guests - 1)
        else:
            del self._gates[address]
