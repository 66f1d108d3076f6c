"""Makes what many ask for in a thread, once for all who wait."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from typing import Generic, TypeVar

T = TypeVar("T")


class Shared(Generic[T]):
    """Makes one thing at a time; all who ask alike before it is begun get the same one.

    Args:
        thread: an executor of one thread.
    """

    def __init__(self, thread: Executor) -> None:
        self._thread = thread
        self._queued: dict[Hashable, asyncio.Future[T]] = {}

    async def ask(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was begun to be made after this call, for this one or for another with the same key.

        Args:
            key: says what is asked for.
            make: makes it; called in the thread.
        """
        if (queued := self._queued.get(key)) is None:
            loop = asyncio.get_running_loop()
            queued = self._queued[key] = loop.run_in_executor(self._thread, self._begin, loop, key, make)
        return await asyncio.shield(queued)  # a client that leaves does not take it from the others

    def _begin(self, loop: asyncio.AbstractEventLoop, key: Hashable, make: Callable[[], T]) -> T:
        loop.call_soon_threadsafe(self._queued.pop, key)  # whoever comes from now on gets a newer one
        return make()
