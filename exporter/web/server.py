"""The HTTP server: a few pages that no client can keep from the others."""

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import structlog
from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Middleware

from exporter.model.target import Address
from exporter.web.arrivals import Arrivals
from exporter.web.connections import Bounds, Connections
from exporter.web.door import Door
from exporter.web.guard import Guard
from exporter.web.listen import address_of, close_listeners, open_listeners, socket_files, spell
from exporter.web.lock import TlsLock
from exporter.web.pages import Pages
from exporter.web.passwords import Passwords, verify_bcrypt
from exporter.web.pieces import Pieces
from exporter.web.renewal import Renewal
from exporter.web.routes import Handler, add_health, add_pages
from exporter.web.scrapes import Scrapes
from exporter.web.status.paths import StatusPages
from exporter.web.turns import short_turns

_GRACE = 0.3  # seconds that requests under way have for their answer when we end
_BOUNDS = Bounds()
_HEALTH_CONNECTIONS = 64
_CLIENTS_MISTAKES = (HttpProcessingError, web.RequestPayloadError, UnicodeError, ConnectionError)
_HEADERS = {"Server": "tlsprobe", "X-Content-Type-Options": "nosniff"}

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Served:
    """What is being served.

    Attributes:
        addresses: that are listened on, socket files apart.
        places: all of them, as people write them.
        health: the addresses of health and readiness alone, socket files apart.
        renew: takes up changes of the lock's files, until it is cancelled.
    """

    addresses: tuple[Address, ...]
    places: tuple[str, ...]
    health: tuple[Address, ...]
    renew: Callable[[], Coroutine[None, None, None]]


@asynccontextmanager
async def serve(door: Door, pages: Pages, bounds: Bounds = _BOUNDS) -> AsyncIterator[Served]:
    """Serve the pages for as long as the block lasts.

    Args:
        door: where, and for whom.
        pages: what they are made from.
        bounds: how much clients may take of us.

    Raises:
        ListenError: an address cannot be had.
    """
    renewal = Renewal(door.lock_file, door.lock, time.time, _tell_renewal)
    guard = Guard(lambda: renewal.lock, Passwords(verify_bcrypt, time.monotonic), time.monotonic)
    async with AsyncExitStack() as stack:
        stack.enter_context(short_turns())
        listeners = door.sockets or await open_listeners(door.listen)
        stack.push_async_callback(close_listeners, listeners, () if door.sockets else socket_files(listeners))
        health = await open_listeners(door.health)
        stack.push_async_callback(close_listeners, health, socket_files(health))
        thread, drawing = (ThreadPoolExecutor(1, thread_name_prefix=name) for name in ("exposition", "status"))
        for each in (thread, drawing):
            stack.callback(each.shutdown, wait=False, cancel_futures=True)
        app = web.Application(middlewares=[_answering(guard)])
        status = StatusPages(pages.status, pages.version, pages.targets, drawing)
        add_pages(app, pages, Scrapes(pages.render, thread), status, door)
        await stack.enter_async_context(_listening(app, listeners, bounds, lambda: renewal.lock.tls))
        plain = web.Application(middlewares=[_answering(None)])
        add_health(plain, pages, "")
        await stack.enter_async_context(_listening(plain, health, replace(bounds, connections=_HEALTH_CONNECTIONS)))
        yield Served(_addresses(listeners), tuple(map(spell, listeners)), _addresses(health), renewal.keep)


def _addresses(listeners: Sequence[socket.socket]) -> tuple[Address, ...]:
    return tuple(filter(None, map(address_of, listeners)))


def _tell_renewal(problem: str | None) -> None:
    if problem is None:
        _log.info("changed web configuration taken up")
    else:
        _log.error("changed web configuration not taken up, the one before it holds", problem=problem)


@asynccontextmanager
async def _listening(
    app: web.Application,
    listeners: Sequence[socket.socket],
    bounds: Bounds,
    tls: Callable[[], TlsLock | None] = lambda: None,
) -> AsyncIterator[None]:
    runner = _runner(app, bounds)
    app[_CONNECTIONS] = connections = Connections(lambda: _protocol(runner), bounds, tls)
    await runner.setup()
    arrivals = Arrivals(listeners, connections.arrive)
    arrivals.begin()
    try:
        yield
    finally:
        arrivals.close()
        await runner.cleanup()
        connections.drop_all()


_CONNECTIONS = web.AppKey("connections", Connections)


def _runner(app: web.Application, bounds: Bounds) -> web.AppRunner:
    logger = logging.getLogger("exporter.web")
    logger.addFilter(_is_ours)
    return web.AppRunner(
        app,
        access_log=None,
        logger=logger,
        # The connections' own deadlines come first; this one only keeps aiohttp's from coming before them.
        keepalive_timeout=bounds.request_seconds + bounds.idle_seconds,
        lingering_time=1.0,
        shutdown_timeout=_GRACE,
    )


def _is_ours(record: logging.LogRecord) -> bool:
    """Leave out what aiohttp tells of clients' mistakes: any port scanner would fill the log with them."""
    return not (record.exc_info and isinstance(record.exc_info[1], _CLIENTS_MISTAKES))


def _protocol(runner: web.AppRunner) -> asyncio.Protocol:
    if runner.server is None:
        raise RuntimeError("connections are accepted only while the server is set up")
    return runner.server()


def _answering(guard: Guard | None) -> Middleware:
    @web.middleware
    async def answer_in_time(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer within the connection's deadlines, whatever a page does or a client asks for."""
        connection = request.app[_CONNECTIONS].of(request.protocol)
        if connection is None:
            raise web.HTTPServiceUnavailable  # it was dropped, so nobody will see this
        with connection.working():
            response = await _answer(request, handler, guard)
            response.headers.update(_HEADERS if guard is None else {**_HEADERS, **guard.headers})
            connection.writing(_left(response))
            try:
                await response.prepare(request)
                await response.write_eof()
            except ConnectionError:
                _log.debug("client left before its answer", path=request.path)
        return response

    return answer_in_time


def _left(response: web.StreamResponse) -> Callable[[], int]:
    """Return what tells how many bytes of a response have not been handed to its connection."""
    body = response.body if isinstance(response, web.Response) else None
    return (lambda: body.left) if isinstance(body, Pieces) else int


async def _answer(request: web.Request, handler: Handler, guard: Guard | None) -> web.StreamResponse:
    try:
        refusal = None if guard is None else await guard.refuse(request)
        return refusal or await handler(request)
    except web.HTTPException as error:
        kept = {name: error.headers[name] for name in ("Allow", "Location") if name in error.headers}
        return web.Response(status=error.status, text=f"{error.status} {error.reason}\n", headers=kept)
    except Exception:  # noqa: BLE001 -- a bug in one page is told, and the connection goes on
        _log.exception("page failed", path=request.path)
        return web.Response(status=500, text="500 Internal Server Error\n")
