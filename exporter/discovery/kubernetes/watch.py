"""Follows one Service: a list, and then all changes after it, for as long as anybody asks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

import structlog

from exporter.discovery.kubernetes.events import ApiError, Change, Trouble
from exporter.discovery.kubernetes.patience import pause
from exporter.discovery.kubernetes.slices import Slice
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.source import KubernetesService

_LISTS_ANEW = frozenset({Trouble.GONE, Trouble.INVALID})
_TOLD = frozenset({Trouble.FAILED, Trouble.INVALID})
_QUICK_END = 5.0  # seconds; a watch that ends sooner, without a word, is a trouble

_log = structlog.get_logger()


class Api(Protocol):
    """What is asked of an API server; both raise ApiError."""

    async def list_slices(self, service: KubernetesService) -> tuple[Mapping[str, Slice], str]:
        """Return a Service's slices by name, and the version to go on from."""
        ...

    def watch(self, service: KubernetesService, version: str) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """Give what changes after a version."""
        ...


@dataclass(frozen=True, slots=True)
class Means:
    """What a watch lives by.

    Attributes:
        now: seconds, never going back.
        sleep: waits for a number of seconds.
        chance: a number from 0 to 1.
    """

    now: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    chance: Callable[[], float]


class Watch:
    """One Service's slices, as far as they were heard of.

    Attributes:
        failure: why we are out of touch, None while we are not.
        heard: when we last were in touch; None before the first time.
        told: set once there is something to say, be it a failure.
    """

    def __init__(self, service: KubernetesService, api: Api, means: Means) -> None:
        self.failure: Failure | None = None
        self.heard: float | None = None
        self.told = asyncio.Event()
        self._service = service
        self._api = api
        self._means = means
        self._slices: dict[str, Slice] = {}
        self._version: str | None = None
        self._troubles = 0

    @property
    def slices(self) -> Iterable[Slice]:
        """The slices that we know of."""
        return self._slices.values()

    async def run(self, wanted: Callable[[], bool]) -> None:
        """Follow the Service until nobody wants it any more."""
        while wanted():
            began, wait = self._means.now(), 0.0
            try:
                await self._follow()
            except ApiError as error:
                self._note(error)
                wait = error.wait
            except Exception as error:  # noqa: BLE001 -- a bug here must not end all other watches
                _log.error("watch failed by a bug of ours", service=self._service.service, exc_info=error)
                self._note(ApiError(Trouble.INVALID, type(error).__name__))
            else:
                if self._means.now() - began >= _QUICK_END:
                    self._troubles = 0
                    continue
                self._troubles += 1
            await self._means.sleep(max(wait, pause(max(1, self._troubles), self._means.chance())))

    async def _follow(self) -> None:
        """List if that is needed, and watch until the server ends that in good order."""
        if self._version is None:
            slices, version = await self._api.list_slices(self._service)
            self._slices, self._version = dict(slices), version
            self._hear()
        async with self._api.watch(self._service, self._version) as changes:
            self._hear()
            async for change in changes:
                self._take(change)

    def _take(self, change: Change) -> None:
        if change.slice is not None:
            self._slices[change.name] = change.slice
        else:
            self._slices.pop(change.name, None)
        self._version = change.version
        self._troubles = 0
        self._hear()

    def _hear(self) -> None:
        self.heard = self._means.now()
        self.failure = None
        self.told.set()

    def _note(self, error: ApiError) -> None:
        self._troubles += 1
        # One list whose next part is gone is begun again soon; where that goes on, we are out of touch.
        is_lost = self._version is None and self._troubles > 1
        if error.trouble in _LISTS_ANEW:
            self._version = None
        if error.trouble in _TOLD or is_lost:
            where = f"Service {self._service.service}"
            self.failure = Failure(Stage.RESOLVE, Reason.NAME_SERVICE, f"{where}, from the API server: {error.words}")
            self.told.set()
