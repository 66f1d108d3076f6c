"""How many connections a round opens, over simulated fleets of every size."""

import asyncio

from exporter.model.observation import Origin
from exporter.model.target import Address, ProbeSettings
from exporter.model.verdicts import RoundResult
from tests.bench.site import Site
from tests.bench.table import Table
from tests.simulation.world import World, alike
from tests.verdict.fleet import TLS13, Server, named

_SIZES = (2, 8, 32, 64)
_ROUNDS = 30
_BUDGET = ProbeSettings().max_extra_connections
_SAMPLE, _SAMPLED = 8, 64
_OLD, _NEW = named("a"), named("b")


def measure(_site: Site) -> Table:
    """Count them: a consistent fleet, a fleet in two halves, and a sample of a large one that misses a rotation."""
    rows, steady, split = [], [], []
    for size in _SIZES:
        most, canaries = asyncio.run(_count(alike(size, Server(keys=[_OLD]))))
        torn, _ = asyncio.run(_count(halves(size)))
        rows.append(
            (str(size), f"{most}", f"{most / size:.2f}", f"{canaries / size:.2f}", f"{torn}", f"{torn - 3 * size}")
        )
        steady.append(most <= 3 * size and canaries <= size)
        split.append(torn <= 3 * size + _BUDGET)
    found, told = asyncio.run(rounds_to_find())
    bound = _SAMPLED // _SAMPLE + 3
    rows.append((f"{_SAMPLED}, sample {_SAMPLE}", "", "", "", "", f"found in round {found}, named in {told}"))
    return Table(
        "Connections a round",
        f"The most of {_ROUNDS} rounds, for one TLS version, with the prober's own plan over simulated servers. "
        "Canaries and strays are tickets offered at an age, or so that a balancer's stride does not fall in with ours. "
        "A backend that a rotation forgot is found when it alone has its key group; it is named as `split` when the "
        "grace has passed since the last change of a key.",
        ("backends", "consistent", "for each", "canaries and strays, for each", "two halves", "beyond three each"),
        tuple(rows),
        (
            ("a consistent fleet: at most three for each backend, and one canary or stray", all(steady)),
            (f"a fleet in two halves: at most {_BUDGET} more", all(split)),
            (
                f"a sample of {_SAMPLE} of {_SAMPLED} finds a backend that a rotation forgot within {bound} rounds",
                found <= bound,
            ),
        ),
    )


def halves(size: int) -> dict[Address, list[Server]]:
    """Return servers that have one of two keys in turn, so that every neighbour refuses."""
    servers = alike(size, Server(keys=[_OLD]))
    for number, there in enumerate(servers.values()):
        there[0].keys = [(_OLD, _NEW)[number % 2]]
    return servers


async def _count(servers: dict[Address, list[Server]]) -> tuple[int, int]:
    """Return the most connections of any round, canaries and strays apart, and the most of those."""
    world = World(servers)
    results = await world.rounds(_ROUNDS)
    return max(len(one.observations) - extra(one) for one in results), max(map(extra, results))


def extra(result: RoundResult) -> int:
    """Count canaries and strays: offers at home beyond the pair's one, or the two where the first was not accepted."""
    offers = [seen for seen in result.observations if seen.offer is not None]
    aged = sum(seen.offer.origin is Origin.AGED for seen in offers if seen.offer)
    strays = sum(seen.pair is None and seen.offer.origin is Origin.SELF for seen in offers if seen.offer)
    return aged + strays


async def rounds_to_find() -> tuple[int, int]:
    """Return in which rounds after a rotation the one backend that it forgot stands alone, and is named as split."""
    world = World(alike(_SAMPLED, Server(keys=[_OLD])), probe=ProbeSettings(sample=_SAMPLE))
    await world.rounds(2 * _SAMPLED // _SAMPLE)
    forgotten = Address(f"127.0.1.{_SAMPLED // 2}", 443)
    for backend, there in world.servers.items():
        if backend != forgotten:
            there[0].keys = [_NEW]
    alone = 0
    for number in range(1, 4 * _SAMPLED):
        verdict = (await world.round()).verdicts[TLS13]
        groups = [one.key_group for one in verdict.backends.values()]
        if not alone and groups.count(verdict.backends[forgotten].key_group) == 1:
            alone = number
        if verdict.odd == (forgotten,):
            return alone, number
    raise AssertionError("never found")
