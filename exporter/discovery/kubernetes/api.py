"""Asks the API server for a Service's EndpointSlices: the only file here that has a connection."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp

from exporter.aside import aside
from exporter.config.problem import RefusedError
from exporter.discovery.dns import Resolver
from exporter.discovery.kubernetes.account import Account, Credentials, read_credentials, trust
from exporter.discovery.kubernetes.events import ApiError, Change, Trouble, read_event, read_page
from exporter.discovery.kubernetes.slices import Slice
from exporter.discovery.lookups import Lookups
from exporter.model.source import KubernetesService

_PAGE_SLICES = 500
_MAX_SLICES = 2000
_MAX_PAGE_BYTES = 32 << 20
_LONGEST_WAIT = 60.0  # seconds, whatever Retry-After says
_SAYS_NOTHING_OF_VERSIONS = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
_MAX_EVENT_BYTES = 4 << 20  # an object in Kubernetes has about 1.5 MiB at most


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long the API server may take, in seconds.

    Attributes:
        answer: for a list as a whole, and for the beginning of a watch.
        watch: after which it ends a watch by itself. A connection that died without a word is noticed a little later.
    """

    answer: float = 10.0
    watch: float = 120.0


_BOUNDS = Bounds()


class ApiServer:
    """One API server, with one pool of connections.

    Args:
        account: who we are; its files are read for each request, since they change.
    """

    def __init__(self, account: Account, bounds: Bounds = _BOUNDS) -> None:
        self._account = account
        self._bounds = bounds
        self._session: aiohttp.ClientSession | None = None
        self._trusted: tuple[bytes, ssl.SSLContext] | None = None

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    async def list_slices(self, service: KubernetesService) -> tuple[Mapping[str, Slice], str]:
        """Return a Service's slices by their names, and the version to go on from.

        Raises:
            ApiError: it could not be had.
        """
        found: dict[str, Slice] = {}
        query = {"limit": str(_PAGE_SLICES)}
        async with _within(self._bounds.answer):
            while True:
                async with self._get(service, query) as response:
                    page = read_page(await _read_all(response))
                found.update({each.metadata.name: each for each in page.items or ()})
                if len(found) > _MAX_SLICES:
                    raise ApiError(Trouble.FAILED, f"more than {_MAX_SLICES} slices")
                if not page.metadata.next_page:
                    return found, page.metadata.resource_version
                query["continue"] = page.metadata.next_page

    @asynccontextmanager
    async def watch(self, service: KubernetesService, version: str) -> AsyncIterator[AsyncIterator[Change]]:
        """Give what changes after a version, until the server ends the watch.

        Raises:
            ApiError: it could not begin, or broke.
        """
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(max(1, round(self._bounds.watch))),
        }
        async with _within(self._bounds.watch + self._bounds.answer), self._get(service, query) as response:
            yield _changes(response)

    @asynccontextmanager
    async def _get(self, service: KubernetesService, query: Mapping[str, str]) -> AsyncIterator[aiohttp.ClientResponse]:
        async with _told(Trouble.FAILED):
            async with asyncio.timeout(self._bounds.answer):
                credentials, context = await aside(self._prepare, "service account")
                response = await self._open().get(
                    _url(self._account, service, credentials),
                    params={"labelSelector": f"kubernetes.io/service-name={service.service}", **query},
                    headers={"Authorization": f"Bearer {credentials.token}", "Accept": "application/json"},
                    ssl=context,
                    allow_redirects=False,
                )
        try:
            _refuse(response)
            yield response
        finally:
            response.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=None)  # the bounds are ours, one for each wait
            # Some clusters name their API server by a name.
            connector = aiohttp.TCPConnector(resolver=Lookups(Resolver(deadline=self._bounds.answer)))
            headers = {"Accept-Encoding": "identity"}
            self._session = aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers)
        return self._session

    def _prepare(self) -> tuple[Credentials, ssl.SSLContext]:
        credentials = read_credentials(self._account)
        if self._trusted is None or self._trusted[0] != credentials.authority:
            self._trusted = credentials.authority, trust(credentials.authority)
        return credentials, self._trusted[1]


def _url(account: Account, service: KubernetesService, credentials: Credentials) -> str:
    namespace = service.namespace or credentials.namespace
    return f"{account.url}/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"


def _refuse(response: aiohttp.ClientResponse) -> None:
    status = response.status
    if status == HTTPStatus.OK:
        return
    if status == HTTPStatus.GONE:
        raise ApiError(Trouble.GONE, "the version is too old")
    hints: dict[int, str] = {
        HTTPStatus.UNAUTHORIZED: ": the service account's token is not taken",
        HTTPStatus.FORBIDDEN: ": the service account may not list and watch endpointslices",
    }
    # Any other answer may be about the version: one that is newer than all that a restored server knows is a 504.
    trouble = Trouble.FAILED if status in _SAYS_NOTHING_OF_VERSIONS else Trouble.INVALID
    raise ApiError(trouble, f"status {status}{hints.get(status, '')}", _wanted_wait(response))


def _wanted_wait(response: aiohttp.ClientResponse) -> float:
    """Return the seconds of Retry-After (RFC 9110 section 10.2.3), within reason; API servers send no dates there."""
    text = response.headers.get("Retry-After", "")
    return min(float(text), _LONGEST_WAIT) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0


async def _read_all(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async with _told(Trouble.FAILED):
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > _MAX_PAGE_BYTES:
                raise ApiError(Trouble.FAILED, "a list that is too large")
    return bytes(body)


async def _changes(response: aiohttp.ClientResponse) -> AsyncIterator[Change]:
    rest = bytearray()
    async with _told(Trouble.DROPPED):
        async for chunk in response.content.iter_any():
            *lines, last = (rest + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    yield read_event(bytes(line))
            rest = last
            if len(rest) > _MAX_EVENT_BYTES:
                raise ApiError(Trouble.INVALID, "an event that is too large")
    if rest.strip():
        raise ApiError(Trouble.DROPPED, "half an event")


@asynccontextmanager
async def _within(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise ApiError(Trouble.FAILED, f"no end of the answer within {seconds:g} s") from None


@asynccontextmanager
async def _told(trouble: Trouble) -> AsyncIterator[None]:
    """Make of what the libraries raise what it means here."""
    try:
        yield
    except RefusedError as refusal:
        raise ApiError(Trouble.FAILED, refusal.found) from None
    except TimeoutError:
        raise ApiError(trouble, "no answer in time") from None
    except (aiohttp.ClientError, OSError) as error:
        raise ApiError(trouble, type(error).__name__) from error
