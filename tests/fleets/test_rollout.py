"""Four nginx that are replaced one by one by others at new addresses, as the pods of a rollout are."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from exporter.metrics.ledger import Ledger
from exporter.model.observation import Origin
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import KeyEventKind, OfferOutcome, RoundResult, TargetState
from exporter.probe.memory import Memory
from exporter.verdict.keybook import records_of, seed
from tests.fleets.starting import StartFleet
from tests.fleets.watch import at_both, both, happened, offers, site, states, watching
from tests.metrics.parsed import Scrape
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings

pytestmark = pytest.mark.servers("nginx")

EVERY = 20.0
BEFORE = 4
ROUNDS_EACH = 2
AFTER = 5
OLD, NEW = slice(0, 4), slice(4, 8)
NOBODY = at_both(())


async def roll_out(
    start_fleet: StartFleet, settings: tuple[Settings, Settings], authority: Authority, forgets_before: int = 0
) -> tuple[list[Address], list[RoundResult]]:
    """Replace four of the first settings by four of the second; return all their addresses and what was seen.

    Args:
        forgets_before: the replacement before which the watch is begun anew, with what is written down of keys alone.
    """
    with start_fleet([settings[0]] * 4 + [settings[1]] * 4) as servers:
        where = [server.address for server in servers]
        async with watching(replace(site(where[OLD], authority), name="shop")) as watch:
            results = await watch.rounds(BEFORE, every=EVERY)
            for replaced in range(1, 5):
                if replaced == forgets_before:
                    watch.memory = Memory(history=seed(records_of(watch.memory.history)))
                present = [*where[OLD][replaced:], *where[NEW][:replaced]]
                results += await watch.rounds(ROUNDS_EACH, every=EVERY, backends=present)
            results += await watch.rounds(AFTER, every=EVERY, backends=where[NEW])
    return where, results


def exposed(results: Sequence[RoundResult]) -> Scrape:
    """Return what is exposed after some rounds."""
    ledger = Ledger()
    for result in results:
        ledger.fold(result)
    return Scrape(ledger)


def named(scrape: Scrape) -> set[str]:
    """Return all backends that some series names."""
    return {value for _, labels in scrape.series for name, value in labels if name == "backend"}


async def test_key_is_kept(start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority) -> None:
    """Where the newcomers have the fleet's key nothing happened to it, and the tickets of the departed live on."""
    settings = Settings(leaf=leaf, ticket_keys=keys[:1])
    where, results = await roll_out(start_fleet, (settings, settings), authority)
    scrape = exposed(results)

    assert [both(TargetState.CONSISTENT)] * len(results) == [states(result) for result in results]
    assert NOBODY == happened(results, KeyEventKind.CHANGE) == happened(results, KeyEventKind.BREAK)
    assert {OfferOutcome.ACCEPTED} == set(offers(results, Origin.DEPARTED))
    for version in TlsVersion:
        assert 0 == scrape.value("ticket_key_changes_total", tls=version)
        assert 0 == scrape.value("ticket_key_breaks_total", tls=version)
    assert {str(backend) for backend in where[NEW]} == named(scrape)


async def test_key_is_new(start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority) -> None:
    """A new key that comes with new addresses is one change, and the tickets of each that has left are a break."""
    settings = (Settings(leaf=leaf, ticket_keys=keys[:1]), Settings(leaf=leaf, ticket_keys=keys[1:]))
    where, results = await roll_out(start_fleet, settings, authority)
    scrape = exposed(results)

    rolling = results[BEFORE : BEFORE + 3 * ROUNDS_EACH]
    assert [both(TargetState.ROTATING)] * len(rolling) == [states(result) for result in rolling]
    after = results[BEFORE + 3 * ROUNDS_EACH :]
    assert [both(TargetState.CONSISTENT)] * len(after) == [states(result) for result in after]
    assert at_both(where[NEW][:1]) == happened(results, KeyEventKind.CHANGE)
    assert at_both(where[OLD]) == happened(results, KeyEventKind.BREAK) == happened(after, KeyEventKind.BREAK)
    for version in TlsVersion:
        assert where[NEW] == list(results[-1].verdicts[version].backends)
        assert 1 == scrape.value("ticket_key_changes_total", tls=version)
        assert 4 == scrape.value("ticket_key_breaks_total", tls=version)
    assert {str(backend) for backend in where[NEW]} == named(scrape)


async def test_key_is_new_and_the_old_one_understood(
    start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority
) -> None:
    """Newcomers that bring a key and still take the old one's tickets break nothing."""
    settings = (Settings(leaf=leaf, ticket_keys=keys[:1]), Settings(leaf=leaf, ticket_keys=keys[::-1]))
    where, results = await roll_out(start_fleet, settings, authority)

    assert at_both(where[NEW][:1]) == happened(results, KeyEventKind.CHANGE)
    assert NOBODY == happened(results, KeyEventKind.BREAK)
    assert both(TargetState.CONSISTENT) == states(results[-1])


@pytest.mark.parametrize("before", [1, 2, 4])
async def test_watch_begins_anew(
    before: int,
    start_fleet: StartFleet,
    leaf: Leaf,
    keys: tuple[Path, Path],
    authority: Authority,
) -> None:
    """A new key is one change in all, also where the exporter is restarted before, amid or at the end of it."""
    settings = (Settings(leaf=leaf, ticket_keys=keys[:1]), Settings(leaf=leaf, ticket_keys=keys[::-1]))
    where, results = await roll_out(start_fleet, settings, authority, before)

    assert at_both(where[NEW][:1]) == happened(results, KeyEventKind.CHANGE)
    assert NOBODY == happened(results, KeyEventKind.BREAK)
    assert both(TargetState.CONSISTENT) == states(results[-1])
