"""Which path leads to which of the status pages."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, TypeVar

from aiohttp import web

from exporter.web.pieces import WORTH_PACKING, body_of, cut, pack
from exporter.web.scrapes import takes_gzip
from exporter.web.shared import Shared
from exporter.web.status.probe import Desk
from exporter.web.status.status import Status

if TYPE_CHECKING:
    from exporter.web.status.rendering import Overviews

T = TypeVar("T")

# Nothing but our own style, script, icons and data; the style and the script are files, so that none can be injected.
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",
}
_LEVEL = 4


class StatusPages:
    """The handlers. All pages are made in one thread, one at a time, from stories that never change.

    Args:
        status: what they are made from.
        version: the exporter's.
        targets: how many are being probed.
        thread: an executor of one thread.
    """

    def __init__(self, status: Status, version: str, targets: Callable[[], int], thread: Executor) -> None:
        self._history = status.history
        self._version = version
        self._targets = targets
        self._thread = thread
        self._shared: Shared[tuple[Sequence[bytes], bool]] = Shared(thread)
        self._overviews: Overviews | None = None
        self._desk = None
        if status.make_round is not None:
            self._desk = Desk(status.make_round, status.history, status.salt, thread)

    def add_to(self, app: web.Application, prefix: str) -> None:
        """Serve the pages under a prefix."""
        get = app.router.add_get
        get(f"{prefix}/", self._overview)
        get(f"{prefix}/targets", _lead_to("./"))
        get(f"{prefix}/targets/", self._target)
        get(f"{prefix}/targets/{{name}}", self._target)
        get(f"{prefix}/api/v1/targets", self._overview_json)
        get(f"{prefix}/api/v1/targets/", self._target_json)
        get(f"{prefix}/api/v1/targets/{{name}}", self._target_json)
        get(f"{prefix}/status/{{file}}", self._asset)
        if self._desk is not None:
            get(f"{prefix}/probe", self._desk.answer)

    async def _overview(self, request: web.Request) -> web.Response:
        targets, wanted = self._targets(), _wanted(request)

        def make() -> bytes:
            from exporter.web.status import frame  # noqa: PLC0415 -- see rendering

            site = frame.Site("", self._version, time.time())
            return self._draw_overviews().page(site, self._history.all(), targets, wanted)

        return await self._answer(request, make, "text/html", alike=("page", *wanted))

    async def _target(self, request: web.Request) -> web.StreamResponse:
        name, now = _name_in(request), time.time()
        if not name:
            return await _lead_to("../")(request)
        story = self._history.find(name)

        def make() -> bytes:
            from exporter.web.status import frame, rendering  # noqa: PLC0415 -- see there

            site = frame.Site("../", self._version, now)
            return rendering.missing_page(site, name) if story is None else rendering.target_page(site, story)

        return await self._answer(request, make, "text/html", 404 if story is None else 200)

    async def _overview_json(self, request: web.Request) -> web.Response:
        wanted = _wanted(request)

        def make() -> bytes:
            return self._draw_overviews().json(self._history.all(), self._version, time.time(), wanted)

        try:
            return await self._answer(request, make, "application/json", alike=("json", *wanted))
        except ValueError as error:
            return web.json_response({"error": str(error)}, status=400, headers=_HEADERS)

    def _draw_overviews(self) -> "Overviews":
        """Return what draws overviews; called in the thread."""
        from exporter.web.status import rendering  # noqa: PLC0415 -- see there

        if self._overviews is None:
            self._overviews = rendering.Overviews()
        return self._overviews

    async def _target_json(self, request: web.Request) -> web.Response:
        story, now = self._history.find(_name_in(request)), time.time()
        if story is None:
            return web.json_response({"error": "no target of that name"}, status=404, headers=_HEADERS)

        def make() -> bytes:
            from exporter.web.status import rendering  # noqa: PLC0415 -- see there

            return rendering.target_json(story, now)

        return await self._answer(request, make, "application/json")

    async def _asset(self, request: web.Request) -> web.Response:
        name = request.match_info["file"]

        def read() -> tuple[bytes, str] | None:
            from exporter.web.status import rendering  # noqa: PLC0415 -- see there

            return rendering.asset(name)

        found = await self._in_thread(read)
        if found is None:
            raise web.HTTPNotFound
        body, kind = found
        return await self._answer(request, lambda: body, kind)

    async def _answer(
        self,
        request: web.Request,
        make: Callable[[], bytes],
        kind: str,
        status: int = 200,
        *,
        alike: tuple[str, ...] | None = None,
    ) -> web.Response:
        """Answer with what is made in the thread, which those share who ask for what is `alike` meanwhile."""
        packed = takes_gzip(",".join(request.headers.getall("Accept-Encoding", [])))

        def make_packed() -> tuple[Sequence[bytes], bool]:
            body = make()
            if packed and len(body) >= WORTH_PACKING:
                return pack(cut(body), _LEVEL), True
            return cut(body), False

        key = object() if alike is None else (packed, *alike)
        body, is_packed = await self._shared.ask(key, make_packed)
        headers = {**_HEADERS, "Vary": "Accept-Encoding", **({"Content-Encoding": "gzip"} if is_packed else {})}
        return web.Response(body=body_of(body), status=status, content_type=kind, charset="utf-8", headers=headers)

    async def _in_thread(self, make: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, make)


def _lead_to(place: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """Return a handler that sends a reader elsewhere; relative, since a proxy may show us under another path."""

    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={**_HEADERS, "Location": place})

    return answer


def _wanted(request: web.Request) -> tuple[str, str]:
    """Return which targets are asked for: a part of a name, and a state."""
    return request.query.get("q", ""), request.query.get("state", "")


def _name_in(request: web.Request) -> str:
    """Return the target's name: in the path, or in the query for names that a browser would read as a way upwards."""
    return request.match_info.get("name") or request.query.get("name", "")
