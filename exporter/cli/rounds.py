"""Rounds of one target, made when a command asks for them."""

import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from exporter.discovery.finder import open_finder
from exporter.model.target import Target
from exporter.model.verdicts import RoundResult
from exporter.probe.dial import Dialler
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from exporter.verdict.rules import Rules


@asynccontextmanager
async def rounds_of(target: Target, rules: Rules) -> AsyncIterator[Callable[[], Awaitable[RoundResult]]]:
    """Give a function that makes the next round; what is remembered from one to the next ends with the block."""
    dialler, memory = Dialler(), Memory()
    prober = Prober(Means(dialler.dial, time.monotonic, time.time, random.random, dialler.ask_staple), rules)

    try:
        async with open_finder() as finder:

            async def make_round() -> RoundResult:
                return await prober.run_round(target, await finder.resolve(target), memory)

            yield make_round
    finally:
        dialler.close()
