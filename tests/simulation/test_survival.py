"""Old tickets are offered where that is wanted, and nowhere else."""

import pytest

from exporter.model.observation import Origin
from exporter.model.target import ProbeSettings
from tests.simulation.world import LIFETIME, World, alike
from tests.verdict.fleet import Server, named


@pytest.mark.parametrize("wanted", [True, False])
async def test_survival_is_a_setting(wanted: bool) -> None:
    """Tickets are kept back and offered when they are old, at most one a backend and round, if the owner wants that."""
    world = World(alike(2, Server([named("A")])), probe=ProbeSettings(survival=wanted))
    results = await world.rounds(2 * LIFETIME // int(world.target.interval))
    aged = [
        [seen for seen in result.observations if seen.offer and seen.offer.origin is Origin.AGED] for result in results
    ]

    assert wanted is any(aged)
    assert all(len(those) <= 2 for those in aged)
