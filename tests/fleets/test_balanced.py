"""Servers behind a balancer that hands out connections in turn, so that one address stands for all of them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import pytest

from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import BackendState, KeyEventKind, RoundResult, TargetState
from tests.fleets.watch import at_both, both, happened, site, states, watching
from tests.servers import fleet, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.process import Server, find_program
from tests.servers.ticket_keys import write_ticket_key

pytestmark = pytest.mark.servers("nginx", "haproxy")

EVERY = 30.0
FOUND_WITHIN = 8
"""Rounds."""
NOBODY = at_both(())

BALANCER = """\
defaults
    mode tcp
    timeout client 10s
    timeout server 10s
    timeout connect 10s
listen site
    bind {at}
    balance {algorithm}
{servers}"""

StartBalanced = Callable[[Sequence[str], str], Iterator[Address]]


@contextmanager
def balanced(
    folder: Path, where: Sequence[Address], settings: Sequence[Settings], algorithm: str = "roundrobin"
) -> Iterator[Address]:
    """Run an nginx at each address but the last, and a balancer there."""
    *homes, at = where
    with ExitStack() as stack:
        stack.enter_context(fleet.start(nginx.start, folder, homes, settings))
        servers = "".join(f"    server s{number} {home}\n" for number, home in enumerate(homes))
        file = folder / "balancer.cfg"
        file.write_text(BALANCER.format(at=at, algorithm=algorithm, servers=servers))
        balancer = Server(at, (find_program("haproxy"), "-db", "-f", str(file)), folder)
        stack.callback(balancer.stop)
        yield at


async def watch_address(at: Address, authority: Authority, rounds: int, seed: int) -> list[RoundResult]:
    """Probe one address, with now and then an offer more, as the daemon does."""
    chance = Random(seed).random  # noqa: S311 - chance that can be had again
    async with watching(site([at], authority), chance=chance) as watch:
        return await watch.rounds(rounds, every=EVERY)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_two_keys(seed: int, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Two keys in turn are two groups behind one address, soon found and then steady, and no stream of rotations."""
    settings = [Settings(leaf=leaf, ticket_keys=(write_ticket_key(tmp_path, label),)) for label in ("one", "two")]
    with balanced(tmp_path, fleet.addresses(ports.claim(), 3), settings) as at:
        results = await watch_address(at, authority, FOUND_WITHIN + 30, seed)

    found = results[FOUND_WITHIN - 1 :]
    assert [both(TargetState.MIXED)] * len(found) == [states(result) for result in found]
    for version in TlsVersion:
        verdicts = [result.verdicts[version] for result in found]
        # Others make the balancer take turns, too, so that now and then all that we ask in a row is led to one server.
        assert sum(verdict.groups != 2 for verdict in verdicts) <= 1
        assert {(at,)} == {verdict.odd for verdict in verdicts}
        assert {BackendState.MIXED} == {verdict.backends[at].state for verdict in verdicts}
        counted = [one.keys for verdict in verdicts if (one := verdict.backends[at].census) is not None]
        assert sum(keys != 2 for keys in counted) <= len(counted) // 10
        events = [event for result in results for event in result.verdicts[version].events]
        assert 1 >= len(events)
        assert [] == [event for result in found for event in result.verdicts[version].events]


async def test_one_key(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Two servers with one key are never told from one, over a hundred rounds."""
    settings = Settings(leaf=leaf, ticket_keys=(write_ticket_key(tmp_path, "one"),))
    with balanced(tmp_path, fleet.addresses(ports.claim(), 3), [settings] * 2) as at:
        results = await watch_address(at, authority, 100, 1)

    assert [both(TargetState.CONSISTENT)] * 100 == [states(result) for result in results]
    assert NOBODY == happened(results, KeyEventKind.CHANGE) == happened(results, KeyEventKind.BREAK)
    verdicts = [verdict for result in results for verdict in result.verdicts.values()]
    assert {1} == {verdict.groups for verdict in verdicts[4:]}
    assert {1} == {one.keys for verdict in verdicts[4:] if (one := verdict.backends[at].census) is not None}


async def test_pinned_to_one(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Where the balancer goes by the client's address, one key is all that can be seen from here."""
    settings = [Settings(leaf=leaf, ticket_keys=(write_ticket_key(tmp_path, label),)) for label in ("one", "two")]
    with balanced(tmp_path, fleet.addresses(ports.claim(), 3), settings, "source") as at:
        results = await watch_address(at, authority, 8, 1)

    assert [both(TargetState.CONSISTENT)] * 8 == [states(result) for result in results]
    assert NOBODY == happened(results, KeyEventKind.CHANGE) == happened(results, KeyEventKind.BREAK)
