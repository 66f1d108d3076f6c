"""Fleets of three nginx behind one name."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from exporter.model.observation import Origin
from exporter.model.target import TlsVersion
from exporter.model.verdicts import BackendState, OfferOutcome, TargetState
from tests.fleets.starting import StartFleet
from tests.fleets.watch import backend_states, both, offers, site, states, watching
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings

pytestmark = pytest.mark.servers("nginx")


async def test_one_key(start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority) -> None:
    """With one key file on all backends every offer is accepted, and no round says anything but consistent."""
    with start_fleet([Settings(leaf=leaf, ticket_keys=keys[:1])] * 3) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            results = await watch.rounds(4)

    assert [both(TargetState.CONSISTENT)] * 4 == [states(result) for result in results]
    assert {OfferOutcome.ACCEPTED} == {*offers(results, Origin.SELF), *offers(results, Origin.PEER)}
    assert [18] * 4 == [len(result.observations) for result in results]
    assert [()] * 4 == [result.failures for result in results]
    assert {1} == {verdict.groups for verdict in results[-1].verdicts.values()}


async def test_another_key_and_its_mend(
    start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority
) -> None:
    """One backend with another key is a split in the first round, and none a round after it is mended."""
    one, two = (Settings(leaf=leaf, ticket_keys=(key,)) for key in keys)
    with start_fleet([one, one, two]) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            split = await watch.round()
            still_split = await watch.round()
            servers[2].reload(one)
            mended = await watch.round()

    for result in (split, still_split):
        assert both(TargetState.SPLIT) == states(result)
        assert {(servers[2].address,)} == {verdict.odd for verdict in result.verdicts.values()}
    assert both(TargetState.CONSISTENT) == states(mended)


async def test_no_keys_shared(start_fleet: StartFleet, leaf: Leaf, authority: Authority) -> None:
    """Each nginx without a key file makes a key of its own, so three of them are three groups."""
    with start_fleet([Settings(leaf=leaf)] * 3) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            result = (await watch.rounds(2))[-1]

    assert both(TargetState.SPLIT) == states(result)
    assert {3} == {verdict.groups for verdict in result.verdicts.values()}


async def test_stateful(start_fleet: StartFleet, leaf: Leaf, authority: Authority) -> None:
    """Tickets off with a cache in each backend: sessions resume at home and nowhere else, and no key is at fault."""
    with start_fleet([Settings(leaf=leaf, tickets=False, cache="shared:site:1m")] * 3) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            results = await watch.rounds(3)

    assert [both(TargetState.STATEFUL)] * 3 == [states(result) for result in results]
    assert {OfferOutcome.ACCEPTED} == set(offers(results, Origin.SELF))


async def test_nothing_resumes(start_fleet: StartFleet, leaf: Leaf, authority: Authority) -> None:
    """Tickets off without a cache: TLS 1.3 gives tickets that nobody takes, TLS 1.2 gives none."""
    with start_fleet([Settings(leaf=leaf, tickets=False, cache="none")] * 3) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            results = await watch.rounds(3)

    expected = {TlsVersion.TLS12: TargetState.NO_TICKETS, TlsVersion.TLS13: TargetState.BROKEN}
    assert [expected] * 3 == [states(result) for result in results]


async def test_backend_down(start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority) -> None:
    """A backend that is down is failed, which no offer is refused by, and the others stay consistent."""
    with start_fleet([Settings(leaf=leaf, ticket_keys=keys[:1])] * 3) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            await watch.rounds(2)
            servers[1].stop()
            results = await watch.rounds(5)

    for result in results:
        assert both(TargetState.CONSISTENT) == states(result)
        for version in TlsVersion:
            expected = [BackendState.RESUMES, BackendState.FAILED, BackendState.RESUMES]
            assert expected == backend_states(result, version)
        assert {servers[1].address} == {backend for backend, _ in result.failures}
    assert OfferOutcome.REFUSED not in {*offers(results, Origin.SELF), *offers(results, Origin.PEER)}


async def test_tls13_only(start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority) -> None:
    """A version that is not spoken is a fact and no failure, and is asked for again only now and then."""
    settings = Settings(leaf=leaf, ticket_keys=keys[:1], versions=(TlsVersion.TLS13,))
    with start_fleet([settings] * 3) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            results = await watch.rounds(12)

    asked = [sum(seen.version is TlsVersion.TLS12 for seen in result.observations) for result in results]
    assert [3, *[0] * 9, 3, 0] == asked
    for result in results:
        assert TargetState.CONSISTENT is result.verdicts[TlsVersion.TLS13].state
        assert [BackendState.NOT_SPOKEN] * 3 == backend_states(result, TlsVersion.TLS12)
        assert () == result.failures
        assert {True, False} == set(result.supported.values())


async def test_vanished_backend(
    start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority
) -> None:
    """A backend that the name no longer stands for is gone from the verdict at once, its refusals too."""
    one, two = (Settings(leaf=leaf, ticket_keys=(key,)) for key in keys)
    with start_fleet([one, one, two]) as servers:
        where = [server.address for server in servers]
        async with watching(site(where, authority)) as watch:
            await watch.rounds(2)
            result = await watch.round(where[:2])

    assert both(TargetState.CONSISTENT) == states(result)
    assert where[:2] == list(result.verdicts[TlsVersion.TLS13].backends)


async def test_one_is_older(start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority) -> None:
    """A backend that does not speak TLS 1.3 is left out there, and shares the key in TLS 1.2 as the others do."""
    both_versions = Settings(leaf=leaf, ticket_keys=keys[:1])
    older = replace(both_versions, versions=(TlsVersion.TLS12,))
    with start_fleet([both_versions, both_versions, older]) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            results = await watch.rounds(4)

    for result in results:
        assert both(TargetState.CONSISTENT) == states(result)
        assert [BackendState.RESUMES] * 3 == backend_states(result, TlsVersion.TLS12)
        expected = [BackendState.RESUMES, BackendState.RESUMES, BackendState.NOT_SPOKEN]
        assert expected == backend_states(result, TlsVersion.TLS13)
    assert OfferOutcome.REFUSED not in {*offers(results, Origin.SELF), *offers(results, Origin.PEER)}


async def test_short_life(start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority) -> None:
    """Tickets that live for a second are no misses where rounds are further apart, and resume where they are not."""
    with start_fleet([Settings(leaf=leaf, ticket_keys=keys[:1], session_seconds=1)] * 2) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            results = await watch.rounds(2)
            await asyncio.sleep(2.1)  # nginx counts in whole seconds
            results += await watch.rounds(3)

    assert [both(TargetState.CONSISTENT)] * 5 == [states(result) for result in results]
    assert {OfferOutcome.ACCEPTED} == {*offers(results, Origin.SELF), *offers(results, Origin.PEER)}
    assert [()] * 10 == [verdict.events for result in results for verdict in result.verdicts.values()]
