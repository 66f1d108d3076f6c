"""One handshake in flight per address, over all targets: a hundred names on one ingress share its address."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from exporter.model.target import Address


class Gates:
    """A gate for each address that somebody stands at; none is kept for the others."""

    def __init__(self) -> None:
        self._gates: dict[Address, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def pass_through(self, address: Address) -> AsyncIterator[None]:
        """Wait until nobody else is at the address, and keep others out meanwhile."""
        lock, guests = self._gates.get(address, (asyncio.Lock(), 0))
        self._gates[address] = (lock, guests + 1)
        try:
            async with lock:
                yield
        finally:
            lock, guests = self._gates[address]
            if guests == 1:
                del self._gates[address]
            else:
                self._gates[address] = (lock, guests - 1)
