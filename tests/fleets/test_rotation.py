"""Four nginx behind one name, with ticket keys from files, while these are changed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from exporter.model.observation import Origin
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import KeyEventKind, OfferOutcome, RoundResult, TargetState
from exporter.verdict.rules import Rules
from exporter.verdict.sentence import explain
from tests.fleets.starting import StartFleet
from tests.fleets.watch import Watch, at_both, both, happened, offers, site, states, watching
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Nginx, Settings

pytestmark = pytest.mark.servers("nginx")

EVERY = 30.0
"""Seconds from one round to the next."""
RULES = Rules(grace=4.5 * EVERY)
EXCUSED = 5
"""Rounds from a change of key on in which backends may differ."""
BEFORE = 4
"""Rounds with the old key, so that it is known beyond chance."""
NOBODY = at_both(())


@pytest.fixture
def old(leaf: Leaf, keys: tuple[Path, Path]) -> Settings:
    """The old key alone."""
    return Settings(leaf=leaf, ticket_keys=keys[:1])


@pytest.fixture
def taught(leaf: Leaf, keys: tuple[Path, Path]) -> Settings:
    """The old key encrypts, and the new one is understood."""
    return Settings(leaf=leaf, ticket_keys=keys)


@pytest.fixture
def turned(leaf: Leaf, keys: tuple[Path, Path]) -> Settings:
    """The new key encrypts, and the old one is understood."""
    return Settings(leaf=leaf, ticket_keys=keys[::-1])


@pytest.fixture
def new(leaf: Leaf, keys: tuple[Path, Path]) -> Settings:
    """The new key alone."""
    return Settings(leaf=leaf, ticket_keys=keys[1:])


async def roll(watch: Watch, servers: Sequence[Nginx], settings: Settings, rounds: int = 1) -> list[RoundResult]:
    """Reload one server after another, with some rounds after each."""
    results = []
    for server in servers:
        server.reload(settings)
        results += await watch.rounds(rounds, every=EVERY)
    return results


def addresses(servers: Sequence[Nginx]) -> list[Address]:
    """Return where servers are."""
    return [server.address for server in servers]


def verdicts(results: Sequence[RoundResult]) -> list[dict[TlsVersion, TargetState]]:
    """Return the states of each round."""
    return [states(result) for result in results]


def refusals(results: Sequence[RoundResult]) -> int:
    """Count the offers that were refused, of whatever origin."""
    return sum(offers(results, origin).count(OfferOutcome.REFUSED) for origin in Origin)


async def test_nothing_happens(start_fleet: StartFleet, old: Settings, authority: Authority) -> None:
    """With one key that stays, thirty rounds raise no alarm of any kind."""
    with start_fleet([old] * 4) as servers:
        async with watching(site(addresses(servers), authority), rules=RULES) as watch:
            results = await watch.rounds(30, every=EVERY)

    assert [both(TargetState.CONSISTENT)] * 30 == verdicts(results)
    assert 0 == refusals(results)
    assert OfferOutcome.ACCEPTED in offers(results, Origin.AGED)
    assert NOBODY == happened(results, KeyEventKind.CHANGE) == happened(results, KeyEventKind.BREAK)
    shown = [verdict for result in results for one in result.verdicts.values() for verdict in one.backends.values()]
    assert {()} == {verdict.dangers for verdict in shown}
    assert {(None, None)} == {(verdict.weakness, verdict.survival.youngest_refused) for verdict in shown}
    assert {1} == {verdict.key_group for verdict in shown[4:]}
    assert {()} == {result.failures for result in results}


async def test_two_passes(
    start_fleet: StartFleet, old: Settings, taught: Settings, turned: Settings, authority: Authority
) -> None:
    """A new key that everybody understands before anybody uses it kills no ticket, and is a change on each."""
    with start_fleet([old] * 4) as servers:
        async with watching(site(addresses(servers), authority), rules=RULES) as watch:
            before = await watch.rounds(BEFORE, every=EVERY)
            first_pass = await roll(watch, servers, taught)
            second_pass = await roll(watch, servers, turned, rounds=2)
            after = await watch.rounds(6, every=EVERY)

    quiet = [*before, *first_pass]
    assert [both(TargetState.CONSISTENT)] * len(quiet) == verdicts(quiet)
    assert [both(TargetState.ROTATING)] * 6 == verdicts(second_pass[:6])
    assert [both(TargetState.CONSISTENT)] * 8 == verdicts([*second_pass[6:], *after])
    everything = [*quiet, *second_pass, *after]
    assert 0 == refusals(everything)
    assert at_both(addresses(servers)) == happened(everything, KeyEventKind.CHANGE)
    assert NOBODY == happened(everything, KeyEventKind.BREAK)


async def test_one_pass(start_fleet: StartFleet, old: Settings, turned: Settings, authority: Authority) -> None:
    """A new key that others do not understand yet is refused there while it goes round, but no old ticket dies."""
    with start_fleet([old] * 4) as servers:
        async with watching(site(addresses(servers), authority), rules=RULES) as watch:
            before = await watch.rounds(BEFORE, every=EVERY)
            rolling = await roll(watch, servers, turned, rounds=2)
            after = await watch.rounds(6, every=EVERY)

    assert [both(TargetState.ROTATING)] * 6 == verdicts(rolling[:6])
    assert 0 < refusals(rolling)
    assert [both(TargetState.CONSISTENT)] * 8 == verdicts([*rolling[6:], *after])
    everything = [*before, *rolling, *after]
    assert at_both(addresses(servers)) == happened(everything, KeyEventKind.CHANGE)
    assert NOBODY == happened(everything, KeyEventKind.BREAK)


@pytest.mark.parametrize(
    ("done", "odd"),
    [
        pytest.param(1, slice(0, 1), id="a quarter done"),
        pytest.param(2, slice(0, 2), id="half done"),
        pytest.param(3, slice(3, 4), id="one left"),
    ],
)
async def test_left_half_done(
    done: int, odd: slice, start_fleet: StartFleet, old: Settings, turned: Settings, authority: Authority
) -> None:
    """A pass that stops on its way is excused for the grace time and then told, with those who stand out."""
    with start_fleet([old] * 4) as servers:
        async with watching(site(addresses(servers), authority), rules=RULES) as watch:
            before = await watch.rounds(BEFORE, every=EVERY)
            rolling = await roll(watch, servers[:done], turned)
            excused = await watch.rounds(EXCUSED - 1, every=EVERY)
            after = await watch.rounds(3, every=EVERY)

    named = tuple(addresses(servers)[odd])
    assert [both(TargetState.ROTATING)] * (done + EXCUSED - 1) == verdicts([*rolling, *excused])
    assert [both(TargetState.ONE_WAY)] * 3 == verdicts(after)
    for result in after:
        for version, verdict in result.verdicts.items():
            assert named == verdict.odd
            assert all(str(backend) in explain(version, verdict).text for backend in named)
    everything = [*before, *rolling, *excused, *after]
    assert at_both(addresses(servers[:done])) == happened(everything, KeyEventKind.CHANGE)
    assert NOBODY == happened(everything, KeyEventKind.BREAK)


async def test_all_at_once(start_fleet: StartFleet, old: Settings, new: Settings, authority: Authority) -> None:
    """A key that takes the other's place everywhere at once kills all tickets, once on each, and no peace is lost."""
    with start_fleet([old] * 4) as servers:
        async with watching(site(addresses(servers), authority), rules=RULES) as watch:
            before = await watch.rounds(BEFORE, every=EVERY)
            for server in servers:
                server.reload(new)
            after = await watch.rounds(12, every=EVERY)

    assert [both(TargetState.CONSISTENT)] * 12 == verdicts(after)
    assert at_both(addresses(servers)) == happened(after[:1], KeyEventKind.BREAK)
    assert at_both(addresses(servers)) == happened(after, KeyEventKind.BREAK)
    assert at_both(addresses(servers)) == happened(after, KeyEventKind.CHANGE)
    assert NOBODY == happened(before, KeyEventKind.BREAK) == happened(before, KeyEventKind.CHANGE)
    assert 8 <= offers(after, Origin.AGED).count(OfferOutcome.REFUSED)


async def test_one_is_missed(start_fleet: StartFleet, old: Settings, new: Settings, authority: Authority) -> None:
    """A backend that the rotation passed over is split off once the grace time is over, and named."""
    with start_fleet([old] * 4) as servers:
        async with watching(site(addresses(servers), authority), rules=RULES) as watch:
            await watch.rounds(BEFORE, every=EVERY)
            for server in servers[:3]:
                server.reload(new)
            excused = await watch.rounds(EXCUSED, every=EVERY)
            after = await watch.rounds(3, every=EVERY)

    missed = servers[3].address
    assert [both(TargetState.ROTATING)] * EXCUSED == verdicts(excused)
    assert [both(TargetState.SPLIT)] * 3 == verdicts(after)
    for result in after:
        for version, verdict in result.verdicts.items():
            assert (missed,) == verdict.odd
            assert 2 == verdict.groups
            assert [2, 2, 2, 1] == [one.key_group for one in verdict.backends.values()]
            assert f"Against the majority: {missed}." in explain(version, verdict).text
    assert at_both(addresses(servers[:3])) == happened([*excused, *after], KeyEventKind.BREAK)
    assert at_both(addresses(servers[:3])) == happened([*excused, *after], KeyEventKind.CHANGE)


async def test_stands_from_the_start(
    start_fleet: StartFleet, old: Settings, new: Settings, authority: Authority
) -> None:
    """A split that is there when the watch begins is told in the first round, and not for a rotation at any time."""
    with start_fleet([new, new, new, old]) as servers:
        async with watching(site(addresses(servers), authority), rules=RULES) as watch:
            results = await watch.rounds(4, every=EVERY)

    assert [both(TargetState.SPLIT)] * 4 == verdicts(results)
    assert {(servers[3].address,)} == {verdict.odd for one in results for verdict in one.verdicts.values()}
    assert NOBODY == happened(results, KeyEventKind.BREAK) == happened(results, KeyEventKind.CHANGE)


async def test_age_of_a_key(
    start_fleet: StartFleet, old: Settings, taught: Settings, turned: Settings, authority: Authority
) -> None:
    """A key is as old as the first ticket that was seen of it, until tickets are of another one."""
    with start_fleet([old]) as servers:
        async with watching(site(addresses(servers), authority), rules=RULES) as watch:
            begun = watch.clock.unix()
            await watch.rounds(2, every=EVERY)
            results = await watch.rounds(2, every=3600.0)
            results += await roll(watch, servers, taught)
            changed = watch.clock.unix()
            results += await roll(watch, servers, turned, rounds=6)

    for version in TlsVersion:
        since = [result.verdicts[version].backends[servers[0].address].key_since or 0.0 for result in results]
        # A single ticket does not tell where its key's name ends, so it may take another round.
        assert begun == pytest.approx(since[0], abs=1.5 * EVERY)
        assert changed == pytest.approx(since[-1], abs=1.5 * EVERY)
        assert {since[0], since[-1]} == set(since)
    assert 0 == refusals(results)
