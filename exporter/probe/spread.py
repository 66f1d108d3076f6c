"""Running the parts of a round: one after another while they are quick, side by side where some are slow."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

_PATIENCE = 0.05
_MOST = 16


async def spread(jobs: Iterable[Callable[[], Awaitable[None]]]) -> None:
    """Run jobs, beginning the next when one ends or when those under way have taken a while.

    Quick backends are thus measured undisturbed by each other, and a dead one does not hold up the rest.
    """
    async with asyncio.TaskGroup() as group:
        running: set[asyncio.Task[None]] = set()
        for job in jobs:
            running.add(group.create_task(_run(job)))
            patience = _PATIENCE if len(running) < _MOST else None
            _, running = await asyncio.wait(running, timeout=patience, return_when=asyncio.FIRST_COMPLETED)


async def _run(job: Callable[[], Awaitable[None]]) -> None:
    await job()
