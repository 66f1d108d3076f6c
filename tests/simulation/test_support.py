"""Versions that are not spoken, from round to round."""

from exporter.model.failure import Reason, Stage
from exporter.model.verdicts import BackendState
from tests.simulation.world import World, alike
from tests.verdict.fleet import TLS12, TLS13, Server, named

A = named("a")


async def test_only_version_denied() -> None:
    """A backend that denies the only version that is asked for fails in every round, and is asked in every round."""
    world = World(alike(2, Server(keys=[A], versions=(TLS12,))), versions=(TLS13,))
    results = await world.rounds(4)

    for result in results:
        assert {BackendState.FAILED} == {one.state for one in result.verdicts[TLS13].backends.values()}
        assert {(Stage.HANDSHAKE, Reason.ALERT_PROTOCOL_VERSION)} == {(f.stage, f.reason) for _, f in result.failures}


async def test_one_of_two_versions_denied() -> None:
    """A version that is not spoken beside one that is, is asked for again in every tenth round."""
    world = World(alike(1, Server(keys=[A], versions=(TLS13,))), versions=(TLS12, TLS13))
    results = await world.rounds(22)

    asked = [n for n, result in enumerate(results) if any(seen.version is TLS12 for seen in result.observations)]
    assert [0, 10, 20] == asked
    assert [()] * 22 == [result.failures for result in results]


async def test_version_that_comes_later() -> None:
    """A version that a backend learns is found within ten rounds, and probed from then on."""
    world = World(alike(1, Server(keys=[A], versions=(TLS13,))), versions=(TLS12, TLS13))
    await world.rounds(3)
    for servers in world.servers.values():
        servers[0].versions = (TLS12, TLS13)
    results = await world.rounds(9)

    states = [result.verdicts[TLS12].backends[result.backends[0]].state for result in results]
    assert [BackendState.NOT_SPOKEN] * 7 + [BackendState.RESUMES] * 2 == states
