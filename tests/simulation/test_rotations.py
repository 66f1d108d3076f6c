"""Thousands of rotations, in the prober's own rounds over simulated servers, a tenth of whose probes are lost."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

import pytest

from exporter.model.observation import Handshake
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import KeyEventKind, RoundResult, TargetState, VersionVerdict
from tests.simulation.world import World, alike
from tests.verdict.fleet import TLS12, TLS13, Server, named

OLD, NEW = named("A"), named("B")
RUNS, CHUNKS = 1000, 20
LARGE_CHUNKS = 4  # so large that a share of one in twenty is no matter of chance
LOSS = 0.1
INTERVAL = 150.0  # seconds, so that the grace time is two rounds and a run is short
GRACE = 300.0
_OLDEST_CANARY = 24  # rounds, by which all tickets are at the end of their life
FALSE = frozenset(TargetState) - {TargetState.CONSISTENT, TargetState.ROTATING, TargetState.UNKNOWN}
PARTED = frozenset({TargetState.SPLIT, TargetState.ONE_WAY})


def size(random: Random) -> int:
    """Draw the size of a fleet: most are small, a few as large as 32."""
    return random.choices([2, 3, random.randint(4, 8), random.randint(9, 32)], [80, 14, 4, 2])[0]


@dataclass(frozen=True)
class Run:
    """One fleet whose keys are about to be changed."""

    world: World
    version: TlsVersion
    random: Random

    async def round(self) -> VersionVerdict:
        """Make one round and give its verdict."""
        result: RoundResult = await self.world.round()
        return result.verdicts[self.version]

    def rounds_of_change(self) -> Iterator[list[Address]]:
        """Part the fleet into those that change their key before each of a few rounds."""
        order = sorted(self.world.servers)
        self.random.shuffle(order)
        step = -(-len(order) // self.random.randint(1, 3))
        for begin in range(0, len(order), step):
            yield order[begin : begin + step]


async def begin(seed: int) -> Run:
    """Put up a fleet that shares one key, and watch it for some rounds."""
    random = Random(seed)  # noqa: S311 - a simulation must repeat itself
    version = random.choice([TLS12, TLS13])
    world = World(alike(size(random), Server([OLD])), seed=seed, loss=LOSS, versions=(version,), interval=INTERVAL)
    run = Run(world, version, random)
    for _ in range(random.randint(3, 4)):
        await run.round()
    return run


def told(verdicts: Iterable[VersionVerdict]) -> Counter[tuple[KeyEventKind, Address]]:
    """Count what was told of keys."""
    return Counter((event.kind, event.backend) for verdict in verdicts for event in verdict.events)


def seeds(chunk: int, chunks: int = CHUNKS) -> range:
    """Give the seeds of one chunk of the runs."""
    return range(chunk * RUNS // chunks, (chunk + 1) * RUNS // chunks)


@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_rolling_rotations_with_overlap_raise_no_false_alarm(chunk: int) -> None:
    """While old tickets are still accepted, nothing is called broken or split, and each backend changes once."""
    for seed in seeds(chunk):
        run = await begin(seed)
        verdicts = []
        for changing in run.rounds_of_change():
            for backend in changing:
                run.world.servers[backend][0].keys = [NEW, OLD]
            verdicts.append(await run.round())
        verdicts += [await run.round() for _ in range(4)]
        while len(told(verdicts)) < len(run.world.servers) and len(verdicts) < 15:  # who cannot be reached tells later
            verdicts.append(await run.round())

        assert FALSE.isdisjoint(verdict.state for verdict in verdicts), seed
        events = told(verdicts)
        assert events == dict.fromkeys(((KeyEventKind.CHANGE, backend) for backend in run.world.servers), 1), seed


@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_rotations_without_overlap_are_found_to_break_tickets(chunk: int) -> None:
    """Where a new key takes the place of the old one at once, the break is counted on each backend, once.

    Where the offer that would show it is lost, a ticket kept back until it is old shows it later.
    """
    for seed in seeds(chunk):
        run = await begin(seed)
        verdicts = []
        for changing in run.rounds_of_change():
            for backend in changing:
                run.world.servers[backend][0].keys = [NEW]
            verdicts.append(await run.round())
        verdicts += [await run.round() for _ in range(2)]
        while len(verdicts) < _OLDEST_CANARY and _breaks(verdicts).total() < len(run.world.servers):
            verdicts.append(await run.round())

        assert FALSE.isdisjoint(verdict.state for verdict in verdicts), seed
        assert _breaks(verdicts) == dict.fromkeys(run.world.servers, 1), seed


def _breaks(verdicts: Iterable[VersionVerdict]) -> Counter[Address]:
    return Counter(
        event.backend for verdict in verdicts for event in verdict.events if event.kind is KeyEventKind.BREAK
    )


@pytest.mark.parametrize("chunk", range(LARGE_CHUNKS))
async def test_a_forgotten_backend_is_found_after_the_grace_time(chunk: int) -> None:
    """One backend that missed the rotation parts the fleet: never before the grace time is over, and soon after.

    The grace time runs from the last first sight of the new key; a backend that cannot be reached shows it later.
    """
    delays = []
    for seed in seeds(chunk, LARGE_CHUNKS):
        run = await begin(seed)
        forgotten = run.random.choice(sorted(run.world.servers))
        keys = run.random.choice([[NEW], [NEW, OLD]])
        last = run.world.now
        sights = _Sights(run)
        for changing in run.rounds_of_change():
            for backend in changing:
                if backend != forgotten:
                    run.world.servers[backend][0].keys = list(keys)
                    last = run.world.now
            assert (await sights.round()).state not in FALSE, seed
        parted, verdict = await _wait_until_parted(sights)
        delay = parted - last

        assert parted - max(sights.first.values()) > GRACE, seed
        if len(run.world.servers) > 2 and len(sights.first) == len(run.world.servers) - 1:
            assert verdict.odd == (forgotten,), seed
        delays.append(delay)
    late = [delay for delay in delays if delay > GRACE + 3 * INTERVAL]
    assert len(late) <= len(delays) * 0.05
    assert max(delays) <= GRACE + 12 * INTERVAL


class _Sights:
    """When each backend was first seen to issue tickets of the new key."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.first: dict[Address, float] = {}

    async def round(self) -> VersionVerdict:
        """Make one round and give its verdict."""
        now = self.run.world.now
        result = await self.run.world.round()
        for seen in result.observations:
            tickets = seen.outcome.tls.tickets if isinstance(seen.outcome, Handshake) else ()
            if any(ticket.identity.startswith(NEW.head) for ticket in tickets):
                self.first.setdefault(seen.backend, now)
        return result.verdicts[self.run.version]


async def _wait_until_parted(sights: _Sights) -> tuple[float, VersionVerdict]:
    """Make rounds until the backends are said to be parted; return when that was."""
    for _ in range(16):
        now = sights.run.world.now
        verdict = await sights.round()
        if verdict.state in PARTED:
            return now, verdict
        assert verdict.state not in FALSE
    raise AssertionError("the fleet was never said to be parted")
