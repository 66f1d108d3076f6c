"""What a target stands for right now, whoever knows it: the name service, SRV records or Kubernetes."""

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exporter.discovery.bound import choose
from exporter.discovery.dns import Resolver
from exporter.discovery.kubernetes.account import find_account
from exporter.discovery.literal import in_order
from exporter.discovery.srv import SrvRecords
from exporter.discovery.whole import WholeNames
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.source import BackendFacts, KubernetesService, SrvName
from exporter.model.target import Address, Endpoint, Resolved, Target

if TYPE_CHECKING:
    from exporter.discovery.kubernetes.services import Services


@dataclass(frozen=True, slots=True)
class _Found:
    """Addresses before the target's bound; `left_out` counts names that were not even looked up."""

    addresses: frozenset[Address]
    failure: Failure | None = None
    left_out: int = 0
    facts: Mapping[Address, BackendFacts] = field(default_factory=dict)


class Finder:
    """Finds the backends of targets.

    Args:
        names: the system's name service.
        records: for SRV records.
        services: None outside of Kubernetes.
    """

    def __init__(self, names: Resolver, records: SrvRecords, services: "Services | None") -> None:
        self._names = names
        self._records = records
        self._services = services

    async def resolve(self, target: Target) -> Resolved:
        """Return the addresses of the target's backends, within its bound; whatever goes wrong is a value."""
        proxies = () if target.proxy is None else (target.proxy,)
        found, proxy = await asyncio.gather(self._find(target), self._look_up(proxies))
        kept = choose(found.addresses, target.probe.max_backends)
        others = choose(found.facts.keys() - found.addresses, target.probe.max_backends)
        return Resolved(
            in_order(set(kept)),
            found.failure or proxy.failure,
            next(iter(in_order(set(proxy.addresses))), None),
            left_out=found.left_out + len(found.addresses) - len(kept),
            facts={address: facts for address, facts in found.facts.items() if address in kept or address in others},
        )

    async def _find(self, target: Target) -> _Found:
        match target.backends_from:
            case None:
                return await self._look_up(target.backends or (target.endpoint,))
            case SrvName(name):
                return await self._ask_records(name, target.probe.max_backends)
            case KubernetesService() as service:
                return await self._ask_kubernetes(service, target.interval)

    async def _look_up(self, endpoints: Collection[Endpoint]) -> _Found:
        answers = await asyncio.gather(*map(self._names.find, dict.fromkeys(endpoints)))
        failure = next((failure for _, failure in answers if failure is not None), None)
        return _Found(frozenset(address for addresses, _ in answers for address in addresses), failure)

    async def _ask_records(self, name: str, most: int) -> _Found:
        told = await self._records.find(name)
        chosen = choose(told.endpoints, most)
        found = await self._look_up(chosen)
        return _Found(found.addresses, told.failure or found.failure, len(told.endpoints) - len(chosen))

    async def _ask_kubernetes(self, service: KubernetesService, again: float) -> _Found:
        if self._services is None:
            words = f"Service {service.service}: this is no pod, since KUBERNETES_SERVICE_HOST is not set"
            return _Found(frozenset(), Failure(Stage.RESOLVE, Reason.NAME_SERVICE, words))
        told, failure = await self._services.find(service, again)
        return _Found(told.ready, failure, facts=told.facts)


@asynccontextmanager
async def open_finder(environment: Mapping[str, str] = os.environ) -> AsyncIterator[Finder]:
    """Give a finder; what it follows ends with the block.

    Args:
        environment: tells where the API server is, if we are in a pod.
    """
    async with AsyncExitStack() as stack:
        account, services = find_account(environment), None
        if account is not None:
            # Outside of Kubernetes nobody should wait for an HTTP client to be loaded.
            from exporter.discovery.kubernetes.services import open_services  # noqa: PLC0415

            services = await stack.enter_async_context(open_services(account))
        yield Finder(Resolver(lookup=WholeNames()), SrvRecords(), services)
