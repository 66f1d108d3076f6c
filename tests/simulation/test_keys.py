"""What happens to keys over time, as the prober's own rounds see it."""

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import BackendState, KeyEvent, KeyEventKind, RoundResult, TargetState
from exporter.verdict.keybook import records_of, seed
from tests.simulation.world import World, alike
from tests.verdict.fleet import TLS12, TLS13, Key, Server, named

A, B, C, D = (named(letter) for letter in "ABCD")
X, Y = Key("x"), Key("y")
CHANGE, BREAK = KeyEventKind.CHANGE, KeyEventKind.BREAK
BOTH = pytest.mark.parametrize("version", [TLS12, TLS13])
LOOKS = pytest.mark.parametrize(("old", "new"), [(A, B), (X, Y)], ids=["named", "hidden"])


def fleet(count: int, keys: Sequence[Key], version: TlsVersion, *, loss: float = 0.0, seed: int = 0) -> World:
    """Put up servers that have these keys."""
    return World(alike(count, Server(list(keys))), versions=(version,), loss=loss, seed=seed)


def rekey(world: World, keys: Sequence[Key], backends: Iterable[Address] | None = None) -> None:
    """Give servers other keys."""
    for backend in backends or list(world.servers):
        for server in world.servers[backend]:
            server.keys = list(keys)


def events(results: Iterable[RoundResult]) -> list[KeyEvent]:
    """List all events of some rounds."""
    return [event for result in results for verdict in result.verdicts.values() for event in verdict.events]


def kinds(results: Iterable[RoundResult]) -> Counter[KeyEventKind]:
    """Count them by their kind."""
    return Counter(event.kind for event in events(results))


def states(results: Iterable[RoundResult]) -> list[TargetState]:
    """List the target's states."""
    return [verdict.state for result in results for verdict in result.verdicts.values()]


@BOTH
@LOOKS
async def test_all_keys_replaced_at_once(version: TlsVersion, old: Key, new: Key) -> None:
    """Tickets die on each backend, told once and at once; fresh ones are good everywhere, so all is consistent."""
    world = fleet(3, [old], version)
    await world.rounds(6)

    rekey(world, [new])
    (first,) = await world.rounds(1)
    later = await world.rounds(20)

    assert kinds([first])[BREAK] == 3
    assert kinds([first, *later]) == ({CHANGE: 3, BREAK: 3} if old is A else {BREAK: 3})
    assert set(states([first, *later])) == {TargetState.CONSISTENT}
    assert {(event.old_key, event.new_key) for event in events([first])} == (
        {(b"A" * 16, b"B" * 16)} if old is A else {(None, None)}
    )


@BOTH
@LOOKS
async def test_a_second_loss_is_told_like_the_first(version: TlsVersion, old: Key, new: Key) -> None:
    """Canaries of a key that is known to be lost tell nothing new, but another key's loss is another break."""
    world = fleet(2, [old], version)
    for keys in ([old], [new], [old]):
        rekey(world, keys)
        results = await world.rounds(8)

        assert kinds(results)[BREAK] == (0 if world.now <= 8 * 30.0 else 2)


@BOTH
async def test_a_rotation_in_two_passes(version: TlsVersion) -> None:
    """The new key is taught everywhere before it is used: four changes, no refusal, no break."""
    world = fleet(4, [A], version)
    await world.rounds(5)
    results = []
    for keys in ([A, B], [B, A]):
        for backend in list(world.servers):
            rekey(world, keys, [backend])
            results += await world.rounds(1)
    results += await world.rounds(8)

    assert set(states(results)) == {TargetState.CONSISTENT, TargetState.ROTATING}
    assert states(results)[-1] is TargetState.CONSISTENT
    assert kinds(results) == {CHANGE: 4}


@BOTH
@LOOKS
async def test_a_key_that_some_do_not_get(version: TlsVersion, old: Key, new: Key) -> None:
    """Backends may differ for the grace time, and then the one that was forgotten parts the fleet and is named."""
    world = fleet(4, [old], version)
    await world.rounds(5)
    *others, forgotten = world.servers

    rekey(world, [new], others)
    found = states(results := await world.rounds(16))

    first = found.index(TargetState.SPLIT)
    assert set(found[:first]) == {TargetState.ROTATING}
    assert first in {11, 12}
    assert set(found[first:]) == {TargetState.SPLIT}
    (verdict,) = results[-1].verdicts.values()
    assert (verdict.odd, verdict.groups) == ((forgotten,), 2)


@BOTH
@pytest.mark.parametrize("keep", [True, False], ids=["keys kept", "new keys"])
async def test_a_rollout_to_new_addresses(version: TlsVersion, *, keep: bool) -> None:
    """Pods are replaced by others at new addresses: a change if they bring a new key, and old tickets die with it."""
    world = fleet(4, [A], version)
    await world.rounds(5)
    results = []
    for number, backend in enumerate(list(world.servers), 101):
        del world.servers[backend]
        world.servers[Address(f"127.0.1.{number}", 443)] = [Server([A if keep else B])]
        results += await world.rounds(2)
    results += await world.rounds(12)

    assert kinds(results) == ({} if keep else {CHANGE: 1, BREAK: 4})
    assert set(states(results)) <= {TargetState.CONSISTENT, TargetState.ROTATING}
    assert states(results)[-1] is TargetState.CONSISTENT
    assert len({event.backend for event in events(results) if event.kind is BREAK}) == (0 if keep else 4)


@BOTH
async def test_a_newcomer_with_a_key_of_its_own(version: TlsVersion) -> None:
    """A new backend with a foreign key may be the begin of a rollout, until the grace time is over."""
    world = fleet(3, [A], version)
    await world.rounds(4)
    stranger = Address("127.0.1.9", 443)
    world.servers[stranger] = [Server([B])]

    found = states(results := await world.rounds(15))

    first = found.index(TargetState.SPLIT)
    assert first >= 10
    assert set(found[:first]) <= {TargetState.ROTATING, TargetState.CONSISTENT}
    assert next(iter(results[-1].verdicts.values())).odd == (stranger,)
    assert kinds(results) == {CHANGE: 1}


@BOTH
@LOOKS
async def test_keys_that_change_all_the_time_do_not_hide_a_split(version: TlsVersion, old: Key, new: Key) -> None:
    """Backends that each have their own key, and a new one every few minutes, are split from the first to the last."""
    world = fleet(2, [old], version)
    results = []
    for turn in range(8):
        for place, backend in enumerate(world.servers):
            name = bytes([65 + 2 * turn + place])
            rekey(world, [Key(str(name), name * 16 if old is A else b"")], [backend])
        results += await world.rounds(6)

    assert set(states(results[2:])) == {TargetState.SPLIT}
    assert kinds(results)[BREAK] == 2 * 7


@BOTH
async def test_a_server_that_rotates_by_itself(version: TlsVersion) -> None:
    """A server that takes a new key every few minutes and still knows the old ones changes, and breaks nothing."""
    world = fleet(2, [A], version, loss=0.1)
    results, keys = [], [A]
    for letter in "BCDEF":
        results += await world.rounds(10)
        keys.insert(0, named(letter))
        rekey(world, keys)
    results += await world.rounds(10)

    assert set(states(results)) <= {TargetState.CONSISTENT, TargetState.ROTATING, TargetState.UNKNOWN}
    assert kinds(results) == {CHANGE: 10}


@BOTH
async def test_a_server_that_encrypts_with_the_last_but_one(version: TlsVersion) -> None:
    """HAProxy hands out the next key before it uses it, so its rotations are changes and no breaks."""
    world = fleet(2, [B, A, C], version)
    await world.rounds(5)
    results = []
    for keys in ([C, B, D], [D, C, named("E")]):
        for backend in list(world.servers):
            rekey(world, keys, [backend])
            results += await world.rounds(1)
        results += await world.rounds(1)

    assert set(states(results)) <= {TargetState.CONSISTENT, TargetState.ROTATING}
    assert kinds(results)[CHANGE] == 4


@BOTH
async def test_keys_that_are_used_in_turn_and_all_accepted(version: TlsVersion) -> None:
    """A server that chooses among its valid keys for each ticket is neither mixed nor split nor ever rotating anew."""
    for number in range(5):
        world = fleet(1, [A], version, seed=number)
        (place,) = world.servers
        world.servers[place] = [Server([A, B]), Server([B, A])]
        results = await world.rounds(40)

        assert set(states(results)) == {TargetState.CONSISTENT}
        assert kinds(results)[CHANGE] <= 1
        assert kinds(results)[BREAK] == 0


@BOTH
@LOOKS
async def test_several_keys_behind_one_address(version: TlsVersion, old: Key, new: Key) -> None:
    """Servers that take turns are found out, and are mixed for good: no breaks, no rotations, two key groups."""
    for number in range(8):
        world = fleet(1, [old], version, seed=number)
        (place,) = world.servers
        world.servers[place] = [Server([old]), Server([new])]

        results = await world.rounds(60)

        found = states(results)
        first = found.index(TargetState.MIXED)
        assert first < (8 if old is A else 20)
        assert set(found[first:]) == {TargetState.MIXED}
        assert kinds(results)[BREAK] == 0
        assert kinds(results)[CHANGE] <= 1
        (verdict,) = results[-1].verdicts.values()
        census = verdict.backends[place].census
        assert census is not None
        assert 1 < (census.effective_low or 0) < (census.effective or 0) < (census.effective_high or 0)
        assert verdict.groups in ({2} if old is A else {2, 3, 4})


@BOTH
@LOOKS
async def test_several_servers_with_one_key_are_never_mixed(version: TlsVersion, old: Key, new: Key) -> None:
    """Over a hundred rounds with lost probes, servers behind one address that share a key are one key group."""
    world = fleet(1, [old], version, loss=0.1)
    (place,) = world.servers
    world.servers[place] = [Server([old]), Server([old])]
    for result in await world.rounds(100):
        (verdict,) = result.verdicts.values()

        assert verdict.backends[place].state in {BackendState.RESUMES, BackendState.FAILED, BackendState.UNKNOWN}
        assert verdict.groups in {1, None}
        assert not verdict.events


@BOTH
@LOOKS
async def test_an_address_that_was_mixed_is_mended(version: TlsVersion, old: Key, new: Key) -> None:
    """Once all servers behind it have one key, it takes twelve good rounds to be sure, and no change is told."""
    world = fleet(1, [old], version, seed=3)
    (place,) = world.servers
    world.servers[place] = [Server([old]), Server([new])]
    before = await world.rounds(25)
    assert states(before)[-1] is TargetState.MIXED

    world.servers[place] = [Server([old]), Server([old])]
    found = states(after := await world.rounds(40))

    first = found.index(TargetState.CONSISTENT)
    assert first >= 6  # clean rounds by chance before the mend count, too
    assert set(found[first:]) == {TargetState.CONSISTENT}
    assert kinds(after) == {}


@BOTH
async def test_a_restart_of_the_prober_counts_nothing_twice(version: TlsVersion) -> None:
    """What was written down makes old keys no news, and a change in the meantime a single change."""
    world = fleet(2, [A], version)
    await world.rounds(4)
    rekey(world, [B, A])
    await world.rounds(6)
    records = records_of(world.memory.history)
    since = {record.backend: record.first_seen for record in records if record.current}

    again = fleet(2, [B, A], version)
    again.now = world.now
    again.memory.history = seed(records)
    results = await again.rounds(4)

    (verdict,) = results[-1].verdicts.values()
    assert kinds(results) == {}
    assert {str(backend): found.key_since for backend, found in verdict.backends.items()} == since
    assert {found.keys_seen for found in verdict.backends.values()} == {2}

    changed = fleet(2, [C], version)
    changed.now = world.now
    changed.memory.history = seed(records)
    assert kinds(await changed.rounds(6)) == {CHANGE: 2}


async def test_a_session_that_was_dropped_is_no_break() -> None:
    """A server that keeps its sessions itself may drop one; where all are gone and new ones live, it was restarted."""
    store: set[int] = set()
    world = World(alike(1, Server(store=store)), versions=(TLS13,))
    (place,) = world.servers
    world.servers[place][0].store = store
    await world.rounds(6)

    store.discard(max(store))
    store.discard(max(store))
    assert kinds(await world.rounds(1)) == {}

    await world.rounds(6)
    results = []
    for _ in range(12):
        store.clear()
        results += await world.rounds(1)
    assert kinds(results)[BREAK] > 0
    assert kinds(results)[CHANGE] == 0


async def test_tickets_that_live_shorter_than_promised_are_no_break() -> None:
    """Where a kept ticket was never accepted, none has died: the youngest age refused tells what clients get."""
    world = fleet(2, [X], TLS13)
    results = []
    for turn in range(10):
        results += await world.rounds(1)
        rekey(world, [Key(str(turn))])

    (verdict,) = results[-1].verdicts.values()
    assert kinds(results) == {}
    for found in verdict.backends.values():
        assert found.survival.oldest_accepted is None
        assert found.survival.youngest_refused == 30.0
        assert found.survival.hint == 3600


@BOTH
async def test_a_rare_key_behind_one_address_breaks_nothing(version: TlsVersion) -> None:
    """One server in ten with a key of its own is found out in time, and its tickets' fate is never called a break."""
    for number in range(4):
        world = fleet(1, [A], version, seed=number)
        (place,) = world.servers
        world.servers[place] = [*(Server([A]) for _ in range(9)), Server([B])]
        await world.rounds(6)

        results = await world.rounds(74)

        assert TargetState.MIXED in states(results)
        assert set(states(results)) <= {TargetState.CONSISTENT, TargetState.MIXED}
        assert kinds(results) == {}
