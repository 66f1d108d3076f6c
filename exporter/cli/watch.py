"""`tlsprobe probe --watch`: a line at each change of key or verdict, with the time."""

import asyncio
import contextlib
import random
import time
from collections.abc import Iterator
from datetime import datetime

from exporter.discovery.dns import Resolver
from exporter.model.fingerprint import fingerprint
from exporter.model.target import Address, Target
from exporter.model.verdicts import BackendState, RoundResult, VersionVerdict
from exporter.probe.dial import Dialler
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from exporter.verdict.findings import dangers_at, events_of


def watch(target: Target, pause: float, salt: bytes) -> int:
    """Probe round after round and print what changes, until interrupted; return the exit code.

    Args:
        pause: seconds from the end of a round to the start of the next.
    """
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_follow(target, pause, salt))
    return 0


async def _follow(target: Target, pause: float, salt: bytes) -> None:
    dialler, resolver, memory = Dialler(), Resolver(), Memory()
    prober = Prober(Means(dialler.dial, time.monotonic, time.time, random.random))
    before: RoundResult | None = None
    try:
        while True:
            result = await prober.run_round(target, await resolver.resolve(target), memory)
            for line in tell_changes(before, result, salt):
                print(f"{datetime.now().astimezone():%H:%M:%S}  {line}", flush=True)
            before = result
            await asyncio.sleep(pause)
    finally:
        dialler.close()


def tell_changes(before: RoundResult | None, result: RoundResult, salt: bytes) -> Iterator[str]:
    """Yield a line for each thing that is not as it was in the round before; all of it in the first round."""
    known = frozenset(before.backends) if before else frozenset[Address]()
    for backend in result.backends:
        if backend not in known:
            yield f"{backend} is there"
    for backend in known.difference(result.backends):
        yield f"{backend} is gone"
    for version, verdict in result.verdicts.items():
        earlier = before.verdicts[version] if before else None
        for line in (*_tell_backends(earlier, verdict, salt), *_tell_target(earlier, verdict)):
            yield f"TLS {version}  {line}"


def _tell_backends(earlier: VersionVerdict | None, verdict: VersionVerdict, salt: bytes) -> Iterator[str]:
    yield from map(str, events_of(verdict, salt))
    for backend, now in verdict.backends.items():
        then = earlier.backends.get(backend) if earlier else None
        if then is None or then.state is not now.state:
            was = "" if then is None else f", was {_words(then.state)}"
            yield f"{backend} {_words(now.state)}{was}"
        if now.key_name is not None and (then is None or then.key_name != now.key_name):
            yield f"{backend} has ticket key {fingerprint(now.key_name, salt):08x}"
        told = set() if then is None else set(dangers_at(backend, then))
        yield from (str(danger) for danger in dangers_at(backend, now) if danger not in told)


def _tell_target(earlier: VersionVerdict | None, verdict: VersionVerdict) -> Iterator[str]:
    if earlier is not None and (earlier.state, earlier.odd) == (verdict.state, verdict.odd):
        return
    was = "" if earlier is None else f"{_words(earlier.state)} -> "
    odd = f", against the others: {', '.join(map(str, verdict.odd))}" if verdict.odd else ""
    yield f"{was}{_words(verdict.state)}{odd}"


def _words(state: BackendState | str) -> str:
    return state.replace("_", " ")
