"""What a restart of the exporter makes of a fleet whose keys are written down."""

from exporter.model.target import Address
from exporter.model.verdicts import TargetState
from exporter.verdict.keybook import records_of, seed
from tests.simulation.world import World, alike
from tests.verdict.fleet import TLS13, Server, named

A, B = named("a"), named("b")


async def restarted(servers: dict[Address, list[Server]], before: World) -> World:
    """Return a world with an exporter that has nothing but what the last one wrote down."""
    world = World(servers)
    world.now = before.now
    world.memory.history = seed(records_of(before.memory.history))
    return world


async def test_standing_split_stays_a_split() -> None:
    """A split whose grace was over before the restart is no rotation after it, from the first round on."""
    world = World(alike(3, Server(keys=[A])))
    await world.rounds(4)
    list(world.servers.values())[2][0].keys = [B]
    await world.rounds(20)
    again = await restarted(world.servers, world)
    results = await again.rounds(4)

    assert [TargetState.SPLIT] * 4 == [result.verdicts[TLS13].state for result in results]
    assert [()] * 4 == [result.verdicts[TLS13].events for result in results]


async def test_key_that_changed_meanwhile_is_a_rotation() -> None:
    """A backend that took a new key while the exporter was down has its grace, and counts as one change."""
    world = World(alike(3, Server(keys=[A])))
    await world.rounds(6)
    list(world.servers.values())[2][0].keys = [B, A]
    again = await restarted(world.servers, world)
    results = await again.rounds(6)

    assert TargetState.ROTATING is results[1].verdicts[TLS13].state
    assert 1 == sum(len(result.verdicts[TLS13].events) for result in results)
