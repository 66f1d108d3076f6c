"""A target under watch: rounds made by hand, as the daemon would make them."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from exporter.model.observation import Origin
from exporter.model.target import Address, Endpoint, HttpSettings, Resolved, Target, TlsSettings, TlsVersion
from exporter.model.verdicts import BackendState, KeyEventKind, OfferOutcome, RoundResult, TargetState
from exporter.probe.dial import Dialler
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from exporter.verdict.offers import outcome_of
from exporter.verdict.rules import Rules
from tests.servers.certificates import Authority

RULES = Rules()


def site(
    backends: Sequence[Address],
    authority: Authority,
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13),
) -> Target:
    """Return site.test with these backends."""
    return Target(
        name="site",
        endpoint=Endpoint("site.test", backends[0].port),
        server_name="site.test",
        backends=tuple(backends),
        versions=versions,
        tls=TlsSettings(ca_file=str(authority.file)),
        http=HttpSettings(),
        timeout=3.0,
        interval=30.0,
    )


@dataclass
class Clock:
    """The real clocks, which can be put forward: for the prober and the verdict alone, since servers have their own.

    Attributes:
        ahead: seconds.
    """

    ahead: float = 0.0

    def monotonic(self) -> float:
        """Tell the time that runs evenly, in seconds."""
        return time.monotonic() + self.ahead

    def unix(self) -> float:
        """Tell the time of day, in seconds since 1970."""
        return time.time() + self.ahead


@dataclass
class Watch:
    """A target, and what is remembered of it."""

    target: Target
    prober: Prober
    clock: Clock = field(default_factory=Clock)
    memory: Memory = field(default_factory=Memory)

    async def round(
        self, backends: Sequence[Address] | None = None, others: Mapping[str, Memory] | None = None
    ) -> RoundResult:
        """Make one round, over other backends than those of the start if some are given.

        Args:
            others: memories of other targets, whose sessions are offered to this one.
        """
        found = tuple(self.target.backends) if backends is None else tuple(backends)
        addresses = tuple(Address(endpoint.host, endpoint.port) for endpoint in found)
        return await self.prober.run_round(self.target, Resolved(addresses), self.memory, others or {})

    async def rounds(
        self, count: int, *, every: float = 0.0, backends: Sequence[Address] | None = None
    ) -> list[RoundResult]:
        """Make some rounds, one right after another.

        Args:
            every: seconds by which the clock is put forward after each.
            backends: as for one round.
        """
        results = []
        for _ in range(count):
            results.append(await self.round(backends))
            self.clock.ahead += every
        return results


@asynccontextmanager
async def watching(
    target: Target, chance: Callable[[], float] = lambda: 1.0, rules: Rules = RULES
) -> AsyncIterator[Watch]:
    """Watch a target; unless told otherwise, chance adds no stray offers."""
    dialler, clock = Dialler(), Clock()
    try:
        yield Watch(
            target, Prober(Means(dialler.dial, clock.monotonic, clock.unix, chance, dialler.ask_staple), rules), clock
        )
    finally:
        dialler.close()


def states(result: RoundResult) -> dict[TlsVersion, TargetState]:
    """Return the target's state for each version."""
    return {version: verdict.state for version, verdict in result.verdicts.items()}


def both(state: TargetState) -> dict[TlsVersion, TargetState]:
    """Return the same state for TLS 1.2 and 1.3."""
    return dict.fromkeys(TlsVersion, state)


def backend_states(result: RoundResult, version: TlsVersion) -> list[BackendState]:
    """Return the backends' states, in the order of their addresses."""
    return [result.verdicts[version].backends[backend].state for backend in result.backends]


def happened(results: Sequence[RoundResult], kind: KeyEventKind) -> dict[TlsVersion, list[Address]]:
    """Return to which backends it happened, once for each time, in the order of their addresses."""
    return {
        version: sorted(
            event.backend for result in results for event in result.verdicts[version].events if event.kind is kind
        )
        for version in results[0].target.versions
    }


def at_both(backends: Sequence[Address]) -> dict[TlsVersion, list[Address]]:
    """Return the same backends for TLS 1.2 and 1.3."""
    return {version: sorted(backends) for version in TlsVersion}


def offers(results: Sequence[RoundResult], origin: Origin) -> list[OfferOutcome]:
    """Return how all offers of tickets of this origin ended."""
    return [
        outcome_of(seen)
        for result in results
        for seen in result.observations
        if seen.offer is not None and seen.offer.origin is origin
    ]
