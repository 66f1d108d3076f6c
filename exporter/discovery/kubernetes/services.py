"""All Services that are followed, each once, however many targets name it."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from exporter.discovery.kubernetes.account import Account
from exporter.discovery.kubernetes.api import ApiServer
from exporter.discovery.kubernetes.slices import Backends, list_backends
from exporter.discovery.kubernetes.watch import Api, Means, Watch
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.source import KubernetesService

_FIRST_ANSWER = 5.0  # seconds that a target waits for a Service that was not heard of yet
_KEEP = 600.0  # seconds for which we go by what we heard last, as with names
_UNWANTED = 900.0  # seconds after which a Service that nobody asks for is not followed any more


@dataclass(slots=True)
class _Followed:
    watch: Watch
    task: asyncio.Task[None]
    asked: float
    patience: float


class Services:
    """Follows Services from the first time that somebody asks for them.

    Args:
        api: whom to ask.
        means: time and chance.
        create_task: starts a task that somebody holds.
        first_answer: seconds to wait for a Service that was not heard of yet.
    """

    def __init__(
        self,
        api: Api,
        means: Means,
        create_task: Callable[..., asyncio.Task[None]],
        *,
        first_answer: float = _FIRST_ANSWER,
    ) -> None:
        self._api = api
        self._means = means
        self._create_task = create_task
        self._first_answer = first_answer
        self._followed: dict[KubernetesService, _Followed] = {}

    def close(self) -> None:
        """Follow none of them any more."""
        for followed in self._followed.values():
            followed.task.cancel()

    async def find(self, service: KubernetesService, again: float) -> tuple[Backends, Failure | None]:
        """Return what a Service stands for, and what is wrong with that.

        Args:
            again: seconds after which the same is asked again, so that it is followed until then.
        """
        watch = self._follow(replace(service, port=0), again)
        try:
            async with asyncio.timeout(self._first_answer):
                await watch.told.wait()
        except TimeoutError:
            words = f"Service {service.service}: nothing heard from the API server"
            return Backends(), Failure(Stage.RESOLVE, Reason.TIMEOUT, words)
        if watch.heard is None or (watch.failure is not None and self._means.now() - watch.heard > _KEEP):
            return Backends(), watch.failure
        found = list_backends(watch.slices, service.port)
        return found, watch.failure or _missing(found, service)

    def _follow(self, service: KubernetesService, again: float) -> Watch:
        patience = max(_UNWANTED, 3 * again)
        followed = self._followed.get(service)
        if followed is None or followed.task.done():
            watch = Watch(service, self._api, self._means)
            task = self._create_task(watch.run(lambda: self._wanted(service)), name=f"Service {service.service}")
            followed = self._followed[service] = _Followed(watch, task, 0.0, 0.0)
        followed.asked, followed.patience = self._means.now(), max(patience, followed.patience)
        return followed.watch

    def _wanted(self, service: KubernetesService) -> bool:
        followed = self._followed[service]
        wanted = self._means.now() - followed.asked < followed.patience
        if not wanted:
            del self._followed[service]
        return wanted


def _missing(found: Backends, service: KubernetesService) -> Failure | None:
    """Say why a Service has no backend, as a name without addresses would be told of."""
    if found.ready:
        return None
    if found.facts:
        words = f"none of {len(found.facts)} endpoints is ready"
    elif found.ports and service.port not in found.ports:
        names = ", ".join(sorted(name or "one without a name" for name in found.ports))
        words = f"no port is named {service.port}, there is {names}"
    else:
        words = "it has no endpoints"
    return Failure(Stage.RESOLVE, Reason.NO_SUCH_NAME, f"Service {service.service}: {words}")


@asynccontextmanager
async def open_services(account: Account) -> AsyncIterator[Services]:
    """Give what follows the Services of a cluster, until the block ends."""
    api = ApiServer(account)
    try:
        async with asyncio.TaskGroup() as group:
            services = Services(api, Means(time.monotonic, asyncio.sleep, random.random), group.create_task)
            try:
                yield services
            finally:
                services.close()
    finally:
        await api.close()
