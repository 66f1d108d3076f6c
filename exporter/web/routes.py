"""Which path leads to which page."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from exporter.web.door import Door
from exporter.web.pages import Pages
from exporter.web.pieces import body_of
from exporter.web.scrapes import Scrapes, takes_gzip
from exporter.web.sd import answer
from exporter.web.status.paths import StatusPages

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def add_pages(app: web.Application, pages: Pages, scrapes: Scrapes, status: StatusPages, door: Door) -> None:
    """Serve all pages under the door's prefix, and lead there from the root."""

    async def metrics(request: web.Request) -> web.Response:
        packed = takes_gzip(",".join(request.headers.getall("Accept-Encoding", [])))
        exposition = await scrapes.ask(",".join(request.headers.getall("Accept", [])), packed=packed)
        headers = {"Content-Type": exposition.content_type, "Vary": "Accept, Accept-Encoding"}
        if exposition.encoding:
            headers["Content-Encoding"] = exposition.encoding
        return web.Response(body=body_of(exposition.body), headers=headers)

    async def listed(request: web.Request) -> web.Response:
        return answer(request, pages.listed(), door)

    async def lead(_: web.Request) -> web.Response:
        raise web.HTTPFound(f"{door.external_path}/")

    app.router.add_get(f"{door.prefix}/metrics", metrics)
    app.router.add_get(f"{door.prefix}/sd", listed)
    status.add_to(app, door.prefix)
    add_health(app, pages, door.prefix)
    _add_reload(app, pages, door)
    if door.prefix:
        app.router.add_get("/", lead)
        app.router.add_get(door.prefix, lead)


def add_health(app: web.Application, pages: Pages, prefix: str) -> None:
    """Serve health and readiness."""

    async def healthy(_: web.Request) -> web.Response:
        return web.Response(text="healthy\n")

    async def ready(_: web.Request) -> web.Response:
        reason = pages.why_not_ready()
        return web.Response(text="ready\n") if reason is None else web.Response(status=503, text=f"{reason}\n")

    app.router.add_get(f"{prefix}/-/healthy", healthy)
    app.router.add_get(f"{prefix}/-/ready", ready)


def _add_reload(app: web.Application, pages: Pages, door: Door) -> None:
    """Serve the reload where there is one, and refuse it where it is not allowed, as Prometheus does."""
    if (again := pages.reload) is None:
        return

    async def reload(_: web.Request) -> web.Response:
        if not door.lifecycle:
            return web.Response(status=403, text="lifecycle API is not enabled, --web.enable-lifecycle does\n")
        problem = await again()
        return web.Response(text="reloaded\n") if problem is None else web.Response(status=500, text=f"{problem}\n")

    for method in ("POST", "PUT"):
        app.router.add_route(method, f"{door.prefix}/-/reload", reload)
