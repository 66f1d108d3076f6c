"""Servers with odd habits about tickets, over several rounds."""

import asyncio
from dataclasses import replace

import pytest

from exporter.model.observation import Handshake, Origin
from exporter.model.target import HttpSettings, TlsVersion
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Danger,
    KeyEvent,
    OfferOutcome,
    RoundResult,
    TargetState,
)
from exporter.verdict.sentence import explain
from tests.fleets.watch import offers, site, watching
from tests.hostile.listener import listening
from tests.hostile.tinytls import Connection, Identity, TinyServer
from tests.servers.certificates import Authority, Leaf

ROUNDS = 8
_ANSWER = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture(scope="module")
def identity(leaf: Leaf) -> Identity:
    """A good certificate for the small server."""
    return Identity.load(leaf)


class Issuer:
    """What a server does once the handshake is done.

    Args:
        tickets: how many it gives.
        late: it gives them with its first application data alone.
        lifetime: their hint in seconds.
    """

    def __init__(self, tickets: int, *, late: bool = False, lifetime: int = 7200) -> None:
        self._tickets = tickets
        self._late = late
        self._lifetime = lifetime
        self._given = 0

    def __call__(self, connection: Connection) -> None:
        """Play one connection."""
        if not self._late:
            connection.send_raw(*self._records(connection))
        connection.receive()
        connection.send_raw(*(self._records(connection) if self._late else ()), connection.data(_ANSWER))
        connection.peer.linger()

    def _records(self, connection: Connection) -> list[bytes]:
        """Make tickets as most servers do: one name for the key, and then what nobody can read."""
        numbers = range(self._given, self._given + self._tickets)
        self._given += self._tickets
        return [connection.ticket(b"n" * 16 + b"%064d" % (7919 * number), self._lifetime) for number in numbers]


async def watch_tiny(
    server: TinyServer, authority: Authority, rounds: int = ROUNDS, *, every: float = 30.0, http: bool = True
) -> list[RoundResult]:
    """Probe a small server in some rounds, a request with each full handshake if wanted."""
    with listening(server) as address:
        target = replace(site([address], authority, (TlsVersion.TLS13,)), http=HttpSettings(enabled=http))
        async with watching(target) as watch:
            return await watch.rounds(rounds, every=every)


def shown(results: list[RoundResult]) -> list[BackendVerdict]:
    """Return what each round said of the one backend."""
    return [one for result in results for one in result.verdicts[TlsVersion.TLS13].backends.values()]


def events(results: list[RoundResult]) -> list[KeyEvent]:
    """Return what happened to keys."""
    return [event for result in results for event in result.verdicts[TlsVersion.TLS13].events]


def brought(results: list[RoundResult]) -> set[int]:
    """Return how many tickets full handshakes brought."""
    return {
        len(seen.outcome.tls.tickets)
        for result in results
        for seen in result.observations
        if isinstance(seen.outcome, Handshake) and seen.offer is None
    }


@pytest.mark.parametrize(
    ("issuer", "count"),
    [
        pytest.param(Issuer(1), 1, id="one"),
        pytest.param(Issuer(4), 4, id="four"),
        pytest.param(Issuer(2, late=True), 2, id="with the first data"),
    ],
)
async def test_tickets_that_resume(issuer: Issuer, count: int, identity: Identity, authority: Authority) -> None:
    """However many tickets come, and however late, they resume, and nothing else is said."""
    results = await watch_tiny(TinyServer(identity, issuer), authority)

    assert {count} == brought(results)
    assert [BackendState.RESUMES] * ROUNDS == [one.state for one in shown(results)]
    assert {OfferOutcome.ACCEPTED} == {*offers(results, Origin.SELF), *offers(results, Origin.AGED)}
    assert [] == events(results)
    assert {()} == {result.failures for result in results}
    assert {()} == {one.dangers for one in shown(results)}


def leave(connection: Connection) -> None:
    """Close in good order without a ticket."""
    connection.send_alert(0, level=1)
    connection.peer.hang_up()


async def test_closes_without_tickets(identity: Identity, authority: Authority) -> None:
    """A server that hangs up after the handshake gives no tickets, which is told as that and as nothing worse."""
    results = await watch_tiny(TinyServer(identity, leave), authority, http=False)

    assert [BackendState.NO_TICKETS] * ROUNDS == [one.state for one in shown(results)]
    assert {TargetState.NO_TICKETS} == {result.verdicts[TlsVersion.TLS13].state for result in results}
    assert [] == events(results)
    assert {()} == {result.failures for result in results}
    assert [1] * ROUNDS == [len(result.observations) for result in results]


@pytest.mark.parametrize("every", [2.0, 30.0], ids=["rounds within its life", "rounds beyond it"])
async def test_short_life(every: float, identity: Identity, authority: Authority) -> None:
    """Tickets that live for five seconds resume within these, and are never a miss after them."""
    results = await watch_tiny(TinyServer(identity, Issuer(1, lifetime=5)), authority, every=every)

    assert [BackendState.RESUMES] * ROUNDS == [one.state for one in shown(results)]
    assert {OfferOutcome.ACCEPTED} == set(offers(results, Origin.SELF))
    assert [] == offers(results, Origin.AGED)
    assert [] == events(results)
    assert {5} == {one.survival.hint for one in shown(results)}
    assert {None} == {one.survival.youngest_refused for one in shown(results)}


async def test_left_out_by_the_client(identity: Identity, authority: Authority) -> None:
    """A ticket that the client's own library finds too old to offer was not offered, which is no miss."""
    with listening(TinyServer(identity, Issuer(1, lifetime=0))) as address:
        async with watching(site([address], authority, (TlsVersion.TLS13,))) as watch:
            results = await watch.rounds(1)
            await asyncio.sleep(2.1)  # it counts in whole seconds, and grants one
            results += await watch.rounds(1)

    assert [OfferOutcome.ACCEPTED, OfferOutcome.NOT_OFFERED, OfferOutcome.ACCEPTED] == offers(results, Origin.SELF)
    assert [BackendState.RESUMES] * 2 == [one.state for one in shown(results)]
    assert {None} == {one.survival.youngest_refused for one in shown(results)}
    assert [] == events(results)


@pytest.mark.parametrize("number", [40, 47, 80], ids=["handshake_failure", "illegal_parameter", "internal_error"])
async def test_kills(number: int, identity: Identity, authority: Authority) -> None:
    """A server that answers each ticket with a fatal alert kills returning clients: a danger, told from the start."""
    results = await watch_tiny(TinyServer(identity, Issuer(1), offer_alert=number), authority)

    assert [BackendState.KILLS] * ROUNDS == [one.state for one in shown(results)]
    assert {(Danger.KILLS,)} == {one.dangers for one in shown(results)}
    assert {OfferOutcome.ERROR, OfferOutcome.KILLED} == set(offers(results, Origin.SELF))
    assert [] == events(results)
    for result in results:
        verdict = result.verdicts[TlsVersion.TLS13]
        assert TargetState.BROKEN is verdict.state
        assert str(result.backends[0]) in explain(TlsVersion.TLS13, verdict).advice


async def test_refuses(identity: Identity, authority: Authority) -> None:
    """A server that gives tickets and takes none refuses them, and no key was broken."""
    results = await watch_tiny(TinyServer(identity, Issuer(1), accept=False), authority)

    assert [BackendState.REFUSES] * ROUNDS == [one.state for one in shown(results)]
    assert {OfferOutcome.REFUSED} == set(offers(results, Origin.SELF))
    assert [] == events(results)


@pytest.mark.parametrize(
    ("lifetime", "dangers"),
    [
        pytest.param(604_800, (), id="seven days"),
        pytest.param(604_801, (Danger.LONG_LIFETIME,), id="and a second"),
    ],
)
async def test_long_life(lifetime: int, dangers: tuple[Danger, ...], identity: Identity, authority: Authority) -> None:
    """A hint of more than seven days is a danger."""
    results = await watch_tiny(TinyServer(identity, Issuer(1, lifetime=lifetime)), authority, 2)

    assert [dangers] * 2 == [one.dangers for one in shown(results)]
