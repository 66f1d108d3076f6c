"""What further requests add to the processor time of a round."""

import asyncio
import os
import random
import time
from dataclasses import replace
from statistics import median

from exporter.model.target import Endpoint, IdleScope, ProbeSettings, Resolved, Target, TlsSettings
from exporter.probe.dial import Dialler
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from tests.bench.client import PROBER_CORE
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.servers.certificates import SERVER_NAME

_PAIRS = 60
_PACE = 0.1
_GOAL = 1.15
_ALONE = ProbeSettings(requests=1, idle=IdleScope.OFF, staple=False, hello_splits=False)


def measure(where: Site) -> Table:
    """Make rounds of one target with and without further requests, in alternating pairs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {PROBER_CORE})
    try:
        pairs = asyncio.run(_make_pairs(where))
    finally:
        os.sched_setaffinity(0, before)
    ratios = [with_them / without for with_them, without in pairs]
    ratio = sum(with_them for with_them, _ in pairs) / sum(without for _, without in pairs)
    return Table(
        "Keep-alive",
        f"Processor time of a round in ms over {_PAIRS} alternating pairs, paced: one nginx, both TLS "
        "versions; the verdict and the memory of the round included, the scrape not.",
        ("round", "median", "mean"),
        (
            _row("without further requests", [without for _, without in pairs]),
            _row("with four more a connection, and one over a resumed one", [with_them for with_them, _ in pairs]),
            ("ratio", f"{median(ratios):.3f}", f"{ratio:.3f}"),
        ),
        ((f"further requests add less than {_GOAL - 1:.0%} to a round's mean", ratio < _GOAL),),
    )


def _row(name: str, seconds: list[float]) -> tuple[str, str, str]:
    return name, milliseconds(median(seconds)), milliseconds(sum(seconds) / len(seconds))


async def _make_pairs(where: Site) -> list[tuple[float, float]]:
    dialler = Dialler()
    prober = Prober(Means(dialler.dial, time.monotonic, time.time, random.random))
    target = Target(
        "bench",
        Endpoint(SERVER_NAME, where.address.port),
        SERVER_NAME,
        tls=TlsSettings(ca_file=str(where.authority.file)),
    )
    without, further = Memory(), Memory()
    tasks = ((replace(target, probe=_ALONE), without), (replace(target, probe=replace(_ALONE, requests=5)), further))
    found = Resolved((where.address,))
    pairs = []
    try:
        for number in range(_PAIRS + 2):
            seconds = {}
            for at in (0, 1) if number // 2 % 2 else (1, 0):
                await asyncio.sleep(_PACE)
                before = time.process_time()
                result = await prober.run_round(tasks[at][0], found, tasks[at][1])
                seconds[at] = time.process_time() - before
                assert result.failures == (), result.failures
            if number >= 2:
                pairs.append((seconds[1], seconds[0]))
    finally:
        dialler.close()
    return pairs
