"""Servers whose ticket key goes with a reload or a restart, or is changed beside it."""

from dataclasses import replace
from pathlib import Path

import pytest

from exporter.model.observation import Origin
from exporter.model.verdicts import KeyEventKind, Mechanism, OfferOutcome, TargetState
from exporter.verdict.rules import Rules
from tests.fleets.starting import StartFleet
from tests.fleets.watch import at_both, both, happened, offers, site, states, watching
from tests.servers import apache, caddy, fleet, haproxy
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.ticket_keys import ticket_key, write_ticket_key

EVERY = 30.0
BEFORE = 4
AFTER = 6
NOBODY = at_both(())


@pytest.mark.servers("nginx")
async def test_nginx_without_key_files(start_fleet: StartFleet, leaf: Leaf, authority: Authority) -> None:
    """A key that is made in the process goes with each reload, which is a change and a break, one of each."""
    settings = Settings(leaf=leaf)
    with start_fleet([settings] * 2) as servers:
        where = [server.address for server in servers]
        async with watching(site(where, authority)) as watch:
            results = await watch.rounds(BEFORE, every=EVERY)
            for _ in range(2):
                for server in servers:
                    server.reload(settings)
                results += await watch.rounds(AFTER, every=EVERY)

    assert NOBODY == happened(results[:BEFORE], KeyEventKind.BREAK) == happened(results[:BEFORE], KeyEventKind.CHANGE)
    assert at_both(where * 2) == happened(results, KeyEventKind.BREAK)
    assert at_both(where * 2) == happened(results, KeyEventKind.CHANGE)
    assert at_both(where) == happened(results[BEFORE : BEFORE + AFTER], KeyEventKind.BREAK)


@pytest.mark.servers("nginx")
async def test_key_file_that_comes_and_goes(
    start_fleet: StartFleet, leaf: Leaf, keys: tuple[Path, Path], authority: Authority
) -> None:
    """A configuration that loses its key file splits the backend off, and is forgotten a round after it is back."""
    managed, lost = Settings(leaf=leaf, ticket_keys=keys[:1]), Settings(leaf=leaf)
    with start_fleet([managed] * 2) as servers:
        where = [server.address for server in servers]
        async with watching(site(where, authority)) as watch:
            before = await watch.rounds(BEFORE, every=EVERY)
            servers[1].reload(lost)
            without = await watch.rounds(14, every=EVERY)
            servers[1].reload(managed)
            after = await watch.rounds(AFTER, every=EVERY)

    assert NOBODY == happened(before, KeyEventKind.BREAK)
    assert at_both(where[1:]) == happened(without, KeyEventKind.BREAK)
    assert both(TargetState.ROTATING) == states(without[0])
    assert both(TargetState.SPLIT) == states(without[-1])
    assert [both(TargetState.CONSISTENT)] * AFTER == [states(result) for result in after]
    assert at_both(where[1:]) == happened(after, KeyEventKind.BREAK)


@pytest.mark.servers("haproxy")
async def test_haproxy_keys_over_its_socket(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """A key that is pushed behind those that are there encrypts only after the next one, so no ticket dies."""
    settings = haproxy.Settings(leaf=leaf, ticket_keys=tuple(ticket_key(label) for label in "abc"))
    where = fleet.addresses(ports.claim(), 2)
    with fleet.start(haproxy.start, tmp_path, where, [settings] * 2) as servers:
        async with watching(site(where, authority)) as watch:
            results = await watch.rounds(BEFORE, every=EVERY)
            for server in servers:
                server.push_ticket_key(ticket_key("d"))
                results += await watch.rounds(1, every=EVERY)
            results += await watch.rounds(AFTER, every=EVERY)

    assert {OfferOutcome.ACCEPTED} == {outcome for origin in Origin for outcome in offers(results, origin)}
    expected = [TargetState.CONSISTENT] * BEFORE + [TargetState.ROTATING] + [TargetState.CONSISTENT] * (1 + AFTER)
    assert [both(state) for state in expected] == [states(result) for result in results]
    assert at_both(where) == happened(results, KeyEventKind.CHANGE)
    assert NOBODY == happened(results, KeyEventKind.BREAK)


@pytest.mark.servers("haproxy")
@pytest.mark.parametrize(
    ("given", "breaks"),
    [
        pytest.param({"ticket_keys": tuple(ticket_key(label) for label in "abc")}, 0, id="key file"),
        pytest.param({}, 1, id="key of its own"),
        pytest.param({"tickets": False}, 1, id="cache"),
    ],
)
async def test_haproxy_restart(
    given: dict[str, object], breaks: int, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority
) -> None:
    """A restart kills what was kept in the process, and nothing where there is a file with keys."""
    settings = replace(haproxy.Settings(leaf=leaf), **given)  # type: ignore[arg-type]
    where = fleet.addresses(ports.claim(), 1)
    with fleet.start(haproxy.start, tmp_path, where, [settings]) as (server,):
        async with watching(site(where, authority)) as watch:
            results = await watch.rounds(8, every=EVERY)
            server.restart()
            results += await watch.rounds(8, every=EVERY)

    assert at_both([*where] * breaks) == happened(results, KeyEventKind.BREAK)


@pytest.mark.servers("apache2")
async def test_apache_knows_one_key(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Apache takes a single key, so each rotation kills all tickets, once."""
    by_key = [apache.Settings(leaf=leaf, ticket_key=write_ticket_key(tmp_path, label, 48)) for label in "abc"]
    where = fleet.addresses(ports.claim(), 1)
    with fleet.start(apache.start, tmp_path, where, by_key[:1]) as (server,):
        async with watching(site(where, authority)) as watch:
            results = await watch.rounds(BEFORE, every=EVERY)
            for settings in by_key[1:]:
                server.reload(settings)
                results += await watch.rounds(AFTER, every=EVERY)

    assert at_both([*where] * 2) == happened(results, KeyEventKind.BREAK) == happened(results, KeyEventKind.CHANGE)
    assert [both(TargetState.CONSISTENT)] * len(results) == [states(result) for result in results]


@pytest.mark.servers("apache2")
@pytest.mark.parametrize("kept", [True, False], ids=["key file", "key of its own"])
async def test_apache_graceful(kept: bool, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """A graceful restart, as for each new log file, kills all tickets unless there is a key file."""
    settings = apache.Settings(leaf=leaf, ticket_key=write_ticket_key(tmp_path, "one", 48) if kept else None)
    where = fleet.addresses(ports.claim(), 1)
    with fleet.start(apache.start, tmp_path, where, [settings]) as (server,):
        async with watching(site(where, authority)) as watch:
            results = await watch.rounds(BEFORE, every=EVERY)
            for _ in range(2):
                server.reload(settings)
                results += await watch.rounds(AFTER, every=EVERY)

    expected = NOBODY if kept else at_both([*where] * 2)
    assert expected == happened(results, KeyEventKind.BREAK) == happened(results, KeyEventKind.CHANGE)


@pytest.mark.servers("caddy")
@pytest.mark.parametrize("rounds", [8, 9], ids=["as an old ticket falls due", "before one falls due"])
async def test_caddy_restart(rounds: int, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """A key without a visible name that is lost with its process is one break, which all its tickets are laid to."""
    where = fleet.addresses(ports.claim(), 1)
    with fleet.start(caddy.start, tmp_path, where, [caddy.Settings(leaf=leaf)]) as (server,):
        async with watching(site(where, authority)) as watch:
            before = await watch.rounds(rounds, every=EVERY)
            server.restart()
            after = await watch.rounds(8, every=EVERY)

    assert NOBODY == happened(before, KeyEventKind.BREAK)
    assert at_both(where) == happened(after, KeyEventKind.BREAK)
    assert NOBODY == happened([*before, *after], KeyEventKind.CHANGE)
    assert [both(TargetState.CONSISTENT)] * (rounds + 8) == [states(result) for result in [*before, *after]]
    shown = [one for verdict in after[-1].verdicts.values() for one in verdict.backends.values()]
    assert {(Mechanism.HIDDEN, None)} == {(one.mechanism, one.survival.youngest_refused) for one in shown}


@pytest.mark.servers("caddy")
async def test_caddy_that_leaves_the_others(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """A backend whose hidden key becomes another one is in rotation for the grace time, and then split off."""
    shared = caddy.Settings(leaf=leaf, shared_folder=tmp_path / "storage")
    where = fleet.addresses(ports.claim(), 3)
    with fleet.start(caddy.start, tmp_path, where, [shared] * 3) as servers:
        async with watching(site(where, authority), rules=Rules(grace=4.5 * EVERY)) as watch:
            before = await watch.rounds(8, every=EVERY)
            servers[2].stop()
            with caddy.start(tmp_path / "2", where[2], caddy.Settings(leaf=leaf)):
                excused = await watch.rounds(5, every=EVERY)
                after = await watch.rounds(3, every=EVERY)

    assert [both(TargetState.CONSISTENT)] * 8 == [states(result) for result in before]
    assert [both(TargetState.ROTATING)] * 5 == [states(result) for result in excused]
    assert [both(TargetState.SPLIT)] * 3 == [states(result) for result in after]
    assert {where[2:]} == {verdict.odd for result in after for verdict in result.verdicts.values()}
    assert at_both(where[2:]) == happened([*before, *excused, *after], KeyEventKind.BREAK)
