"""A daemon in small: real rounds of real backends, told to a history that the web side shows."""

import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from exporter.discovery.dns import Resolver
from exporter.model.target import Target
from exporter.model.verdicts import RoundResult
from exporter.probe.dial import Dialler
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from exporter.verdict.rules import Rules
from exporter.web.door import Door
from exporter.web.pages import Pages
from exporter.web.server import serve
from exporter.web.status.history import History
from exporter.web.status.status import Status


class Watcher:
    """Makes rounds of targets, each with a memory of its own."""

    def __init__(self, targets: tuple[Target, ...], grace: float = 300.0) -> None:
        self.history = History()
        self._dialler, self._resolver = Dialler(), Resolver()
        means = Means(self._dialler.dial, time.monotonic, time.time, random.random, self._dialler.ask_staple)
        self._prober = Prober(means, Rules(grace=grace))
        self._targets = {target.name: (target, Memory()) for target in targets}
        for target in targets:
            self.history.admit(target)

    async def look(self, rounds: int = 1) -> None:
        """Make so many rounds of every target."""
        for _ in range(rounds):
            for target, memory in self._targets.values():
                result = await self._prober.run_round(target, await self._resolver.resolve(target), memory)
                told = {"target": target.name, "seconds": round(result.elapsed, 3)}
                self.history.add(result, told, warning=bool(result.failures))

    async def probe(self, target: Target) -> RoundResult:
        """Make a round that nothing is remembered of."""
        return await self._prober.run_round(target, await self._resolver.resolve(target), Memory())

    def close(self) -> None:
        """Give back what is held."""
        self._dialler.close()


@asynccontextmanager
async def watching(
    *targets: Target, door: Door | None = None, grace: float = 300.0
) -> AsyncIterator[tuple[str, Watcher]]:
    """Serve the status pages of some targets, and give the URL of their root and who makes the rounds."""
    watcher = Watcher(targets, grace)
    status = Status(watcher.history, watcher.probe)
    pages = Pages(lambda _: ((), "text/plain"), lambda: None, lambda: len(targets), "1.2", status=status)
    try:
        async with serve(door or Door(("127.0.0.1:0",)), pages) as served:
            yield f"http://{served.addresses[0]}", watcher
    finally:
        watcher.close()
