"""Servers of several processes behind one address, which have their sessions in common or do not."""

from pathlib import Path
from random import Random

import pytest

from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import BackendState, RoundResult
from tests.fleets.watch import site, watching
from tests.servers import granian, hitch
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server

ROUNDS = 16
WORKERS = 3


@pytest.mark.servers("hitch")
async def test_one_key(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Workers with one key are never taken for several backends."""
    settings = hitch.Settings(leaf=leaf, workers=WORKERS)
    with hitch.start(tmp_path / "hitch", Address("127.0.0.2", ports.claim()), settings) as server:
        results = await watch_alone(server, authority)

    for version in TlsVersion:
        assert [BackendState.RESUMES] * ROUNDS == states(results, version)


@pytest.mark.servers("granian")
@pytest.mark.parametrize("version", TlsVersion)
async def test_sessions_of_their_own(
    version: TlsVersion, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority
) -> None:
    """Workers that keep sessions apart make one address answer differently, and it stays so once it was seen."""
    settings = granian.Settings(leaf=leaf, workers=WORKERS)
    with granian.start(tmp_path / "granian", Address("127.0.0.2", ports.claim()), settings) as server:
        seen = states(await watch_alone(server, authority), version)

    assert BackendState.MIXED in seen
    first = seen.index(BackendState.MIXED)
    assert [BackendState.MIXED] * (ROUNDS - first) == seen[first:]


async def watch_alone(server: Server, authority: Authority) -> list[RoundResult]:
    """Probe one server for ROUNDS rounds, now and then with an offer more, as the daemon does."""
    chance = Random(7).random  # noqa: S311 - chance that can be had again
    async with watching(site([server.address], authority), chance=chance) as watch:
        return await watch.rounds(ROUNDS)


def states(results: list[RoundResult], version: TlsVersion) -> list[BackendState]:
    """Return the one backend's state in each round."""
    return [backend.state for result in results for backend in result.verdicts[version].backends.values()]
