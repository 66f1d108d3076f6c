"""A loop under watch: who asks it from outside, and by how much its own ticks come late."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from exporter.model.target import Address
from tests.bench.client import PROBER_CORE
from tests.bench.visitor import Seen, Visit
from tests.servers.process import find_program

_TICK = 0.001
_LONGEST = 1 << 26  # bytes of a line, which holds the seconds of very many answers


class Watch:
    """Ticks, and notes the latest tick."""

    def __init__(self) -> None:
        self.worst = 0.0

    async def tick(self) -> None:
        """Tick until cancelled."""
        while True:
            due = time.perf_counter() + _TICK
            await asyncio.sleep(_TICK)
            self.worst = max(self.worst, time.perf_counter() - due)


@asynccontextmanager
async def watched() -> AsyncIterator[Watch]:
    """Watch the running loop for as long as the block lasts."""
    watch = Watch()
    ticking = asyncio.get_running_loop().create_task(watch.tick())
    try:
        yield watch
    finally:
        ticking.cancel()


class Outsider:
    """A visitor in a process of its own, on the core that is not ours."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def visit(self, visit: Visit) -> Seen:
        """Let it make a visit; raises RuntimeError where it ends over it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(visit) + b"\n")
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError("the visitor ended in the middle of its visit; its error is above")
        return msgspec.json.decode(line, type=Seen)


@asynccontextmanager
async def outsider(address: Address) -> AsyncIterator[Outsider]:
    """Run a visitor of the web side at an address."""
    words = ("-c", str(PROBER_CORE), sys.executable, "-m", "tests.bench.visitor", address.host, str(address.port))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        find_program("taskset"), *words, stdin=pipe, stdout=pipe, limit=_LONGEST
    )
    try:
        yield Outsider(process)
    finally:
        process.terminate()
        await process.wait()
