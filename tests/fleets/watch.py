"""A target under watch: rounds made by hand, as the daemon would make them."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from exporter.model.target import Address, Endpoint, HttpSettings, Resolved, Target, TlsSettings, TlsVersion
from exporter.model.verdicts import BackendState, RoundResult, TargetState
from exporter.probe.dial import Dialler
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from tests.servers.certificates import Authority


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
class Watch:
    """A target, and what is remembered of it."""

    target: Target
    prober: Prober
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

    async def rounds(self, count: int) -> list[RoundResult]:
        """Make some rounds, one right after another."""
        return [await self.round() for _ in range(count)]


@asynccontextmanager
async def watching(target: Target, chance: Callable[[], float] = lambda: 1.0) -> AsyncIterator[Watch]:
    """Watch a target; unless told otherwise, chance adds no stray offers."""
    dialler = Dialler()
    try:
        yield Watch(target, Prober(Means(dialler.dial, time.monotonic, time.time, chance)))
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
