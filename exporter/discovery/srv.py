"""Endpoints from SRV records (RFC 2782), which the C library does not know.

The records of the lowest priority are meant, all of them and whatever their weight: a client takes one of these at
random, so each of them may be asked to resume what another has issued. Those of a higher priority are for when none of
the first answers.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from exporter.aside import aside
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Endpoint

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver as DnsResolver


def system_resolver() -> "DnsResolver":
    """Return a resolver with the name servers of this system as they are now; this blocks."""
    from dns.asyncresolver import Resolver as DnsResolver  # noqa: PLC0415 -- it weighs 3 MiB, and few need it

    return DnsResolver()


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What a name of SRV records stands for.

    Attributes:
        failure: why it could not be asked; the endpoints are those of earlier on then.
    """

    endpoints: frozenset[Endpoint]
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class _Kept:
    endpoints: frozenset[Endpoint]
    since: float


class SrvRecords:
    """Asks for SRV records, and keeps the last ones while nobody answers.

    Args:
        deadline: seconds for one answer, over all name servers.
        keep: seconds for which the last records of a failing name are still given.
        resolver: makes what is asked; it is called in a thread.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        *,
        deadline: float = 2.0,
        keep: float = 600.0,
        resolver: "Callable[[], DnsResolver]" = system_resolver,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._deadline = deadline
        self._keep = keep
        self._resolver = resolver
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    async def find(self, name: str) -> Endpoints:
        """Return the endpoints of a name; whatever goes wrong is a value."""
        answer = await self._ask(name)
        if isinstance(answer, Failure):
            return Endpoints(self._last(name), answer)
        self._kept[name] = _Kept(answer, self._clock())
        return Endpoints(answer)

    def _last(self, name: str) -> frozenset[Endpoint]:
        oldest = self._clock() - self._keep
        self._kept = {each: kept for each, kept in self._kept.items() if kept.since >= oldest}
        return self._kept[name].endpoints if name in self._kept else frozenset()

    async def _ask(self, name: str) -> frozenset[Endpoint] | Failure:
        resolver = await aside(self._resolver, "SRV set-up")
        try:
            async with asyncio.timeout(self._deadline):
                # The dot makes the name whole: the number of queries does not hang on the system's search list.
                answer = await resolver.resolve(f"{name}.", "SRV", search=False, lifetime=self._deadline)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the target's round goes on with what was known
            return Failure(Stage.RESOLVE, _reason_of(error), f"SRV {name}: {type(error).__name__}")
        records = [(record.priority, record.target.to_text(omit_final_dot=True), record.port) for record in answer]
        lowest = min(priority for priority, _, _ in records)
        found = frozenset(
            Endpoint(host, port) for priority, host, port in records if priority == lowest and host != "." and port
        )
        if not found:  # a lone dot says that the service is decidedly not available
            return Failure(Stage.RESOLVE, Reason.NO_SUCH_NAME, f"SRV {name}: the service is not available here")
        return found


def _reason_of(error: Exception) -> Reason:
    return next((reason for kind, reason in _reasons().items() if isinstance(error, kind)), Reason.NAME_SERVICE)


def _reasons() -> Mapping[type[Exception], Reason]:
    from dns import exception, resolver  # noqa: PLC0415 -- loaded by now, since it raised

    return MappingProxyType(
        {
            resolver.NXDOMAIN: Reason.NO_SUCH_NAME,
            resolver.NoAnswer: Reason.NO_SUCH_NAME,
            exception.Timeout: Reason.TIMEOUT,
            TimeoutError: Reason.TIMEOUT,
        }
    )
