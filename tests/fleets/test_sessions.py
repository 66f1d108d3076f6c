"""Servers that keep sessions themselves instead of sealing them into tickets."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from exporter.model.observation import Handshake, Origin
from exporter.model.target import HttpSettings, TlsVersion
from exporter.model.verdicts import BackendState, Cause, Danger, KeyEventKind, Mechanism, OfferOutcome, TargetState
from exporter.verdict.sentence import explain
from tests.fleets.starting import StartFleet
from tests.fleets.watch import at_both, backend_states, both, happened, offers, site, states, watching
from tests.servers import fleet, haproxy, s_server
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.visit import trust, visit

EVERY = 30.0
ROUNDS = 10
NOBODY = at_both(())


@pytest.mark.servers("nginx")
async def test_nginx(start_fleet: StartFleet, leaf: Leaf, authority: Authority) -> None:
    """Each nginx resumes what is in its own cache; that the others refuse it is no key's fault, whatever comes."""
    with start_fleet([Settings(leaf=leaf, tickets=False, cache="shared:site:1m")] * 3) as servers:
        async with watching(site([server.address for server in servers], authority)) as watch:
            results = await watch.rounds(ROUNDS, every=EVERY)

    assert [both(TargetState.STATEFUL)] * ROUNDS == [states(result) for result in results]
    assert {OfferOutcome.ACCEPTED} == {*offers(results, Origin.SELF), *offers(results, Origin.AGED)}
    assert {OfferOutcome.REFUSED} == set(offers(results, Origin.PEER))
    crossings = [one for result in results for verdict in result.verdicts.values() for one in verdict.crossings]
    assert Cause.KEY not in {one.cause for one in crossings}
    assert NOBODY == happened(results, KeyEventKind.CHANGE) == happened(results, KeyEventKind.BREAK)
    for version in TlsVersion:
        shown = [one for result in results for one in result.verdicts[version].backends.values()]
        assert {Mechanism.STATEFUL} == {one.mechanism for one in shown}
        assert {(None, None)} == {(one.key_name, one.key_group) for one in shown}
        assert {None} == {result.verdicts[version].groups for result in results}
    old = [seen.outcome for seen in results[-1].observations if seen.version is TlsVersion.TLS12]
    assert {()} == {outcome.tls.tickets for outcome in old if isinstance(outcome, Handshake)}


@pytest.mark.servers("nginx")
async def test_ids_that_nobody_keeps(start_fleet: StartFleet, leaf: Leaf, authority: Authority) -> None:
    """Without tickets and cache, nginx gives session ids on TLS 1.2 and takes none back, which is told as that."""
    with start_fleet([Settings(leaf=leaf, tickets=False)]) as (server,):
        async with watching(site([server.address], authority)) as watch:
            results = await watch.rounds(ROUNDS, every=EVERY)

    told = [result.verdicts[TlsVersion.TLS12] for result in results]
    assert {TargetState.NO_TICKETS} == {verdict.state for verdict in told}
    assert {Cause.SESSION_ID} == {crossing.cause for verdict in told for crossing in verdict.crossings}
    sentence = "TLS 1.2: the backend gave no tickets, and did not take the session ids back that came instead."
    assert {sentence} == {explain(TlsVersion.TLS12, verdict).text for verdict in told}


@pytest.mark.servers("nginx")
async def test_nginx_reload(start_fleet: StartFleet, leaf: Leaf, authority: Authority) -> None:
    """A shared cache outlives a reload, and no new identity in a ticket is taken for a new key."""
    settings = Settings(leaf=leaf, tickets=False, cache="shared:site:1m")
    with start_fleet([settings]) as (server,):
        async with watching(site([server.address], authority)) as watch:
            results = await watch.rounds(4, every=EVERY)
            server.reload(settings)
            results += await watch.rounds(4, every=EVERY)

    assert [both(TargetState.STATEFUL)] * 8 == [states(result) for result in results]
    assert {OfferOutcome.ACCEPTED} == {*offers(results, Origin.SELF), *offers(results, Origin.AGED)}
    assert NOBODY == happened(results, KeyEventKind.CHANGE) == happened(results, KeyEventKind.BREAK)


@pytest.mark.servers("nginx")
async def test_cache_that_is_too_small(start_fleet: StartFleet, leaf: Leaf, authority: Authority) -> None:
    """A cache that holds sessions for a round or two, as traffic goes, is one server, and loses no key again and again.

    The first time that it drops all looks from outside as if it had been emptied.
    """
    load = Random(1)  # noqa: S311 - chance that can be had again
    contexts = [trust(authority.file, version) for version in TlsVersion]
    with start_fleet([Settings(leaf=leaf, tickets=False, cache="builtin:40")]) as (server,):
        async with watching(site([server.address], authority)) as watch:
            results = []
            for _ in range(24):
                results += await watch.rounds(1, every=EVERY)
                for _ in range(load.choice([2, 3, 4, 6, 12])):
                    for context in contexts:
                        visit(server.address, context)

    assert {OfferOutcome.ACCEPTED, OfferOutcome.REFUSED} == set(offers(results, Origin.SELF))
    assert [both(TargetState.STATEFUL)] * 24 == [states(result) for result in results]
    assert NOBODY == happened(results, KeyEventKind.CHANGE)
    assert all(len(told) <= 1 for told in happened(results, KeyEventKind.BREAK).values())


@pytest.mark.servers("haproxy")
async def test_restarts(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Restarts that follow each other kill all sessions each time, and are never taken for several servers."""
    where = fleet.addresses(ports.claim(), 1)
    with fleet.start(haproxy.start, tmp_path, where, [haproxy.Settings(leaf=leaf, tickets=False)]) as (server,):
        async with watching(site(where, authority)) as watch:
            results = await watch.rounds(8, every=EVERY)
            for rounds in (2, 2, 9):
                server.restart()
                results += await watch.rounds(rounds, every=EVERY)

    assert [both(TargetState.STATEFUL)] * 21 == [states(result) for result in results]
    assert all(1 <= len(told) <= 3 for told in happened(results, KeyEventKind.BREAK).values())


@pytest.mark.servers("openssl")
async def test_s_server(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Two `s_server -no_ticket` are the same."""
    where = fleet.addresses(ports.claim(), 2)
    with fleet.start(s_server.start, tmp_path, where, [s_server.Settings(leaf=leaf, tickets=False)] * 2):
        async with watching(site(where, authority)) as watch:
            results = await watch.rounds(ROUNDS, every=EVERY)

    assert [both(TargetState.STATEFUL)] * ROUNDS == [states(result) for result in results]
    assert {OfferOutcome.ACCEPTED} == {*offers(results, Origin.SELF), *offers(results, Origin.AGED)}
    assert NOBODY == happened(results, KeyEventKind.CHANGE) == happened(results, KeyEventKind.BREAK)


@pytest.mark.servers("openssl")
async def test_single_use(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Tickets that are good for one use are never a miss at home and never a break, and 0-RTT is told as a danger."""
    where = fleet.addresses(ports.claim(), 1)
    target = replace(site(where, authority, (TlsVersion.TLS13,)), http=HttpSettings(enabled=False))
    with fleet.start(s_server.start, tmp_path, where, [s_server.Settings(leaf=leaf, early_data=True)]):
        async with watching(target) as watch:
            results = await watch.rounds(ROUNDS, every=EVERY)

    verdicts = [result.verdicts[TlsVersion.TLS13] for result in results]
    assert [TargetState.STATEFUL] * ROUNDS == [verdict.state for verdict in verdicts]
    assert {OfferOutcome.ACCEPTED} == set(offers(results, Origin.SELF))
    assert () == tuple(event for verdict in verdicts for event in verdict.events)
    refused = [one for verdict in verdicts for one in verdict.crossings if one.outcome is OfferOutcome.REFUSED]
    assert {Cause.SINGLE_USE} >= {one.cause for one in refused}
    for verdict in verdicts:
        (shown,) = verdict.backends.values()
        assert (Danger.EARLY_DATA,) == shown.dangers
        assert None is shown.survival.youngest_refused
        assert shown.census is None or 0 == shown.census.offers - shown.census.hits


@pytest.mark.servers("nginx")
async def test_nothing_kept(start_fleet: StartFleet, leaf: Leaf, authority: Authority) -> None:
    """Tickets off without a cache: TLS 1.3 still gives tickets, of which none is ever taken, and no key is at fault."""
    with start_fleet([Settings(leaf=leaf, tickets=False, cache="none")]) as (server,):
        async with watching(site([server.address], authority)) as watch:
            results = await watch.rounds(ROUNDS, every=EVERY)

    for result in results:
        assert [BackendState.NO_TICKETS] == backend_states(result, TlsVersion.TLS12)
        assert [BackendState.REFUSES] == backend_states(result, TlsVersion.TLS13)
    assert {OfferOutcome.REFUSED} == set(offers(results, Origin.SELF))
    assert NOBODY == happened(results, KeyEventKind.CHANGE) == happened(results, KeyEventKind.BREAK)
    assert {300} == {result.verdicts[TlsVersion.TLS13].backends[server.address].survival.hint for result in results}
