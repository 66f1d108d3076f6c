"""One handshake in flight per address, over all targets: a hundred names on one ingress share its address."""

import asyncio
from collections import deque

from exporter.model.target import Address


class Gates:
    """A gate for each address that somebody is at; none is kept for the others."""

    def __init__(self) -> None:
        self._queues: dict[Address, deque[asyncio.Future[None]]] = {}

    async def enter(self, address: Address) -> None:
        """Wait until nobody else is at the address; who has entered must leave."""
        queue = self._queues.get(address)
        if queue is None:
            self._queues[address] = deque()
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                queue.remove(turn)
            else:
                self.leave(address)
            raise

    def leave(self, address: Address) -> None:
        """Let the next one in."""
        queue = self._queues[address]
        if queue:
            queue.popleft().set_result(None)
        else:
            del self._queues[address]
