"""A clock that tests move by hand."""

import asyncio
import heapq
import itertools

from exporter.schedule.scheduler import Clock


class Timeline:
    """Virtual time: sleepers are woken in order, and time passes only while a test lets it."""

    def __init__(self, now: int = 0) -> None:
        self.now = now
        self._sleepers: list[tuple[int, int, asyncio.Event]] = []
        self._order = itertools.count()

    @property
    def clock(self) -> Clock:
        """The view of it that the scheduler takes."""
        return Clock(now=lambda: self.now, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        """Wait until the timeline has been moved on by so many seconds."""
        woken = asyncio.Event()
        heapq.heappush(self._sleepers, (self.now + round(seconds * 1e9), next(self._order), woken))
        await woken.wait()

    async def pass_by(self, seconds: float) -> None:
        """Move on, waking each sleeper at its moment."""
        end = self.now + round(seconds * 1e9)
        await _settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            moment, _, woken = heapq.heappop(self._sleepers)
            self.now = max(self.now, moment)
            woken.set()
            await _settle()
        self.now = end


async def _settle() -> None:
    """Let every task that can run do so; none here needs more than a few turns of the loop."""
    for _ in range(10):
        await asyncio.sleep(0)
