"""A case, run: two servers alike are started, probed in some rounds, and looked at."""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.model.connections import HttpAnswer
from exporter.model.failure import Failure
from exporter.model.observation import Handshake, Ticket
from exporter.model.target import Address, HttpSettings, TlsVersion
from exporter.model.verdicts import KeyEvent, RoundResult, TargetState
from tests.fleets.watch import site, watching
from tests.interop.case import Case, Product, Sight
from tests.servers import fleet
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import find_program

ROUNDS = 3
_ASK_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Site:
    """What all cases have in common."""

    authority: Authority
    leaf: Leaf
    ports: Ports


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a case showed.

    Attributes:
        rounds: what each round said, with the tickets of all rounds.
        http: the version and whether the connection was kept alive, of all answers.
        ticket_bytes: all sizes that tickets had.
        events: whatever is said to have happened to keys, of which nothing did.
        failures: whatever went wrong.
    """

    rounds: tuple[Mapping[TlsVersion, Sight], ...]
    http: frozenset[tuple[str, bool]]
    ticket_bytes: Mapping[TlsVersion, frozenset[int]]
    events: tuple[KeyEvent, ...]
    failures: tuple[tuple[Address | None, Failure], ...]

    def last(self, case: Case) -> dict[TlsVersion, Sight]:
        """Return what the last round said, without what the case leaves to chance."""
        return {
            version: _without_names(sight) if case.expected[version].mechanism is None else sight
            for version, sight in self.rounds[-1].items()
        }


def _without_names(sight: Sight) -> Sight:
    """Leave out what follows from the names of keys, where a server makes them of whatever lies in its memory."""
    pair = TargetState.CONSISTENT if sight.pair is TargetState.ROTATING else sight.pair
    return replace(sight, mechanism=None, keys=None, pair=pair)


async def run(case: Case, common: Site, folder: Path) -> Run:
    """Start the two servers, probe them in ROUNDS rounds and stop them.

    Raises:
        ServerError: one did not start.
        ValueError: the two, or two of their tickets, are not alike.
    """
    where = fleet.addresses(common.ports.claim(), 2)
    if case.product.wildcard:
        where = tuple(address._replace(port=common.ports.claim()) for address in where)
    target = replace(site(where, common.authority), http=HttpSettings(enabled=case.product.http is not None))
    settings = case.settings(common.leaf, folder)
    with fleet.start(case.product.start, folder / "fleet", where, [settings] * 2):
        async with watching(target) as watch:
            results = await watch.rounds(ROUNDS)
    seen = {version: tuple(_handshakes(results, version)) for version in TlsVersion}
    return Run(
        rounds=tuple({version: _look(result, version, seen[version]) for version in TlsVersion} for result in results),
        http=frozenset(
            (answer.version, answer.keep_alive)
            for handshakes in seen.values()
            for handshake in handshakes
            if isinstance(answer := handshake.http, HttpAnswer)
        ),
        ticket_bytes={
            version: frozenset(len(ticket.identity) for one in handshakes for ticket in one.tls.tickets)
            for version, handshakes in seen.items()
        },
        events=tuple(event for result in results for verdict in result.verdicts.values() for event in verdict.events),
        failures=tuple(failure for result in results for failure in result.failures),
    )


def version_of(product: Product) -> str:
    """Ask a server for its version.

    Raises:
        ValueError: it tells none.
    """
    program, *arguments = product.ask
    asked = subprocess.run(
        (find_program(program), *arguments), capture_output=True, text=True, timeout=_ASK_SECONDS, check=False
    )
    found = re.search(r"\d+(\.\d+)+", asked.stdout + asked.stderr)
    if found is None:
        raise ValueError(f"{program} tells no version")
    return found[0]


def _look(result: RoundResult, version: TlsVersion, handshakes: Sequence[Handshake]) -> Sight:
    verdict = result.verdicts[version]
    states = {backend.state for backend in verdict.backends.values()}
    mechanisms = {backend.mechanism for backend in verdict.backends.values()}
    full = [one.tls.tickets for one in handshakes if not one.tls.resumed]
    resumed = [one.tls.tickets for one in handshakes if one.tls.resumed]
    hints = {ticket.lifetime for tickets in full for ticket in tickets}
    # Some count the hint from when the session began, which may be a second before they send it.
    if (hints and max(hints) - min(hints) > 1) or len(states) > 1:
        raise ValueError(f"not alike: {sorted(hints)} {sorted(states)}")
    return Sight(
        mechanism=mechanisms.pop() if len(mechanisms) == 1 else None,
        full=_most(full),
        resumed=_most(resumed),
        hint=max(hints, default=None),
        backend=states.pop(),
        pair=verdict.state,
        keys=verdict.groups,
        early_data=any(ticket.max_early_data for tickets in full for ticket in tickets),
    )


def _handshakes(results: Sequence[RoundResult], version: TlsVersion) -> Iterator[Handshake]:
    for result in results:
        for seen in result.observations:
            if seen.version is version and isinstance(seen.outcome, Handshake):
                yield seen.outcome


def _most(brought: Sequence[Sequence[Ticket]]) -> int:
    """Return how many tickets a connection brings; a probe need not wait for the last of them."""
    return max(map(len, brought), default=0)
