"""Servers that keep sessions themselves, and lose them."""

import pytest

from exporter.model.verdicts import BackendState, OfferOutcome
from tests.simulation.world import World, alike
from tests.verdict.fleet import TLS12, TLS13, Server


@pytest.mark.parametrize("before", range(8, 12))
async def test_restarts(before: int) -> None:
    """A server that loses all sessions broke them, whenever that is; another time two rounds later it is no crowd."""
    store: set[int] = set()
    world = World(alike(1, Server(store=store)), versions=(TLS12, TLS13))
    results = await world.rounds(before)
    for rounds in (2, 8):
        store.clear()
        results += await world.rounds(rounds)

    for version in (TLS12, TLS13):
        verdicts = [result.verdicts[version] for result in results]
        assert {BackendState.STATEFUL} == {one.state for verdict in verdicts for one in verdict.backends.values()}
        told = [result.number for result in results for _ in result.verdicts[version].events]
        assert before == told[0]
        assert 2 >= len(told)


async def test_single_sessions_are_dropped() -> None:
    """One session that is gone while older ones live says nothing of the others."""
    store: set[int] = set()
    world = World(alike(1, Server(store=store)), versions=(TLS13,))
    results = await world.rounds(8)
    for _ in range(4):
        store.difference_update(sorted(store)[-4:])
        results += await world.rounds(3)

    verdicts = [result.verdicts[TLS13] for result in results]
    assert OfferOutcome.REFUSED in {one.outcome for verdict in verdicts for one in verdict.crossings}
    assert [] == [event for verdict in verdicts for event in verdict.events]
