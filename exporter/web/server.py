"""The HTTP server: a few pages that no client can keep from the others."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import structlog
from aiohttp import web
from aiohttp.http import HttpProcessingError

from exporter.model.target import Address
from exporter.web.connections import Bounds, Connections
from exporter.web.listen import address_of, open_listeners
from exporter.web.pages import Pages, root_page
from exporter.web.scrapes import Scrapes, takes_gzip

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_GRACE = 0.3  # seconds that requests under way have for their answer when we end
_BOUNDS = Bounds()
_CLIENTS_MISTAKES = (HttpProcessingError, web.RequestPayloadError, UnicodeError, ConnectionError)
_HEADERS = {"Server": "tlsprobe", "X-Content-Type-Options": "nosniff"}

_log = structlog.get_logger()


@asynccontextmanager
async def serve(listen: Sequence[str], pages: Pages, bounds: Bounds = _BOUNDS) -> AsyncIterator[tuple[Address, ...]]:
    """Serve the pages for as long as the block lasts, and give the addresses that are listened on.

    Args:
        listen: `HOST:PORT`, `[IPV6]:PORT` or `:PORT` for all interfaces.
        pages: what they are made from.
        bounds: how much clients may take of us.

    Raises:
        ListenError: an address cannot be had.
    """
    listeners = await open_listeners(listen)
    thread = ThreadPoolExecutor(1, thread_name_prefix="exposition")
    app = web.Application(middlewares=[_answer_in_time])
    runner = _runner(app, bounds)
    try:
        _add_routes(app, pages, Scrapes(pages.render, thread))
        app[_CONNECTIONS] = connections = Connections(lambda: _protocol(runner), bounds)
        await runner.setup()
        loop = asyncio.get_running_loop()
        servers = [await loop.create_server(connections.accept, sock=each) for each in listeners]
        try:
            yield tuple(map(address_of, listeners))
        finally:
            for server in servers:
                server.close()
            await runner.cleanup()
            connections.drop_all()
    finally:
        thread.shutdown(wait=False, cancel_futures=True)
        for each in listeners:
            each.close()


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


@web.middleware
async def _answer_in_time(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """Answer within the connection's deadlines, whatever a page does or a client asks for."""
    connection = request.app[_CONNECTIONS].of(request.protocol)
    if connection is None:
        raise web.HTTPServiceUnavailable  # it was dropped, so nobody will see this
    with connection.working():
        response = await _answer(request, handler)
        response.headers.update(_HEADERS)
        connection.writing()
        try:
            await response.prepare(request)
            await response.write_eof()
        except ConnectionError:
            _log.debug("client left before its answer", path=request.path)
    return response


async def _answer(request: web.Request, handler: _Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        allow = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
        return web.Response(status=error.status, text=f"{error.status} {error.reason}\n", headers=allow)
    except Exception:  # noqa: BLE001 -- a bug in one page is told, and the connection goes on
        _log.exception("page failed", path=request.path)
        return web.Response(status=500, text="500 Internal Server Error\n")


def _add_routes(app: web.Application, pages: Pages, scrapes: Scrapes) -> None:
    async def metrics(request: web.Request) -> web.Response:
        packed = takes_gzip(",".join(request.headers.getall("Accept-Encoding", [])))
        exposition = await scrapes.ask(",".join(request.headers.getall("Accept", [])), packed=packed)
        headers = {"Content-Type": exposition.content_type, "Vary": "Accept, Accept-Encoding"}
        if exposition.encoding:
            headers["Content-Encoding"] = exposition.encoding
        return web.Response(body=exposition.body, headers=headers)

    async def healthy(_: web.Request) -> web.Response:
        return web.Response(text="healthy\n")

    async def ready(_: web.Request) -> web.Response:
        reason = pages.why_not_ready()
        return web.Response(text="ready\n") if reason is None else web.Response(status=503, text=f"{reason}\n")

    async def root(_: web.Request) -> web.Response:
        return web.Response(text=root_page(pages), content_type="text/html")

    app.router.add_get("/", root)
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/-/healthy", healthy)
    app.router.add_get("/-/ready", ready)
