"""An API server in memory that lists and watches EndpointSlices over real HTTPS, and fails in the ways asked of it."""

import asyncio
import json
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from tests.servers.certificates import Authority, Leaf

Json = dict[str, object]
TOKEN = "first-token"


def member(*addresses: str, pod: str = "", **conditions: bool) -> Json:
    """Return an endpoint as a slice lists it."""
    return {
        "addresses": list(addresses),
        "conditions": conditions,
        "nodeName": "node-1",
        "zone": "zone-a",
        **({"targetRef": {"kind": "Pod", "name": pod}} if pod else {}),
    }


def slice_of(*members: Json, name: str = "shop-1", port: str = "https", number: int = 8443) -> Json:
    """Return a slice without a version, which the server adds."""
    return {
        "metadata": {"name": name},
        "addressType": "IPv4",
        "endpoints": list(members),
        "ports": [{"name": port, "port": number, "protocol": "TCP"}, {"name": "dns", "port": 53, "protocol": "UDP"}],
    }


class ApiServer:
    """The server's state, and what it is told to do wrong.

    Attributes:
        requests: the query of each request, in order.
        tokens: the Authorization header of each.
        accepted: the token that it takes.
        statuses: are answered instead of what was asked for, one a request.
        bodies: are sent as a list, instead of the right one, one a request.
        too_old: whether any version is too old to watch from, until the next list.
        page: slices in one part of a list.
        answering: cleared while requests get no answer.
        retry_after: goes along with such statuses.
        expired: how many of the next requests for a further part of a list are answered with 410.
        packed: whether answers come in gzip, as by a proxy that does not ask.
    """

    def __init__(self) -> None:
        self.requests: list[Mapping[str, str]] = []
        self.tokens: list[str] = []
        self.accepted = TOKEN
        self.statuses: list[int] = []
        self.bodies: list[bytes] = []
        self.too_old = False
        self.page = 500
        self.retry_after = ""
        self.expired = 0
        self.packed = False
        self.answering = asyncio.Event()
        self.answering.set()
        self._version = 100
        self._slices: dict[str, Json] = {}
        self._log: list[tuple[int, Json]] = []
        self._transports: set[asyncio.Transport] = set()
        self._changed = asyncio.Event()

    @property
    def version(self) -> str:
        """The newest version."""
        return str(self._version)

    @property
    def lists(self) -> int:
        """How often a list was asked for."""
        return sum("watch" not in query for query in self.requests)

    @property
    def watches(self) -> list[str]:
        """The versions that watches began from."""
        return [query["resourceVersion"] for query in self.requests if "watch" in query]

    def put(self, found: Json, *, tell: bool = True) -> None:
        """Store a slice, and tell of it unless the news of it are to be lost."""
        name = _name(found)
        kind = "MODIFIED" if name in self._slices else "ADDED"
        self._version += 1
        metadata = {"name": name, "resourceVersion": str(self._version)}
        self._slices[name] = {**found, "metadata": metadata}
        if tell:
            self._say({"type": kind, "object": self._slices[name]})

    def delete(self, name: str) -> None:
        """Drop a slice and tell of it."""
        self._version += 1
        gone = self._slices.pop(name)
        metadata = {"name": name, "resourceVersion": str(self._version)}
        self._say({"type": "DELETED", "object": {**gone, "metadata": metadata}})

    def restore(self) -> None:
        """Go back to a state of long ago, as from a copy of its disk: watchers know a version that is still to come."""
        self._version -= 80
        self._log.clear()
        self.drop_streams()

    def bookmark(self, step: int = 50) -> None:
        """Tell of a newer version and nothing else."""
        self._version += step
        self._say({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(self._version)}}})

    def fail_watch(self, code: int) -> None:
        """End watches by a status, as for a version that is too old."""
        self._say({"type": "ERROR", "object": {"kind": "Status", "code": code, "reason": "Expired"}})

    def say_nonsense(self, line: bytes) -> None:
        """Send a line that is no event."""
        self._log.append((self._version, {"raw": line.decode()}))
        self._changed.set()

    def drop_streams(self) -> None:
        """Cut all watches off in the middle."""
        for transport in list(self._transports):
            transport.abort()

    def _say(self, event: Json) -> None:
        self._log.append((self._version, event))
        self._changed.set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        self.requests.append(dict(request.query))
        self.tokens.append(request.headers.get("Authorization", ""))
        await self.answering.wait()
        if self.tokens[-1] != f"Bearer {self.accepted}":
            return web.json_response({"code": 401}, status=401)
        if self.statuses:
            headers = {"Retry-After": self.retry_after} if self.retry_after else {}
            return web.json_response({}, status=self.statuses.pop(0), headers=headers)
        return await (self._watch(request) if "watch" in request.query else self._list(request))

    async def _list(self, request: web.Request) -> web.Response:
        if self.bodies:
            return web.Response(body=self.bodies.pop(0), content_type="application/json")
        if "continue" in request.query and self.expired:
            self.expired -= 1
            return web.json_response({"kind": "Status", "code": 410, "reason": "Expired"}, status=410)
        self.too_old = False
        begin = int(request.query.get("continue", "0"))
        end = begin + min(self.page, int(request.query["limit"]))
        slices = list(self._slices.values())
        metadata = {"resourceVersion": str(self._version), "continue": str(end) if end < len(slices) else ""}
        answer = web.json_response({"kind": "EndpointSliceList", "metadata": metadata, "items": slices[begin:end]})
        if self.packed:
            answer.enable_compression(web.ContentCoding.gzip)
        return answer

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        if self.too_old:
            return web.json_response({"kind": "Status", "code": 410}, status=410)
        seen = int(request.query["resourceVersion"])
        if seen > self._version:
            return web.json_response({"kind": "Status", "code": 504, "reason": "Timeout"}, status=504)
        end = asyncio.get_running_loop().time() + int(request.query["timeoutSeconds"])
        response = web.StreamResponse()
        if self.packed:
            response.headers["Content-Encoding"] = "gzip"
        packer = zlib.compressobj(wbits=31)
        await response.prepare(request)
        transport = request.transport
        assert transport is not None
        self._transports.add(transport)
        place = next((at for at, (version, _) in enumerate(self._log) if version > seen), len(self._log))
        try:
            while True:
                while place < len(self._log):
                    event = self._log[place][1]
                    place += 1
                    line = str(event["raw"]).encode() if "raw" in event else json.dumps(event).encode()
                    # In two pieces, since nothing promises that an event comes in one.
                    for piece in (line[:7], line[7:] + b"\n"):
                        sent = packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH) if self.packed else piece
                        await response.write(sent)
                    if event.get("type") == "ERROR":
                        return response
                self._changed.clear()
                async with asyncio.timeout_at(end):
                    await self._changed.wait()
        except TimeoutError:
            return response
        finally:
            self._transports.discard(transport)


def _name(found: Json) -> str:
    metadata = found["metadata"]
    assert isinstance(metadata, dict)
    return str(metadata["name"])


def write_account(folder: Path, authority: Authority, token: str = TOKEN) -> None:
    """Write what a pod finds in its service account's folder."""
    folder.mkdir(exist_ok=True)
    (folder / "token").write_text(f"{token}\n")
    (folder / "ca.crt").write_bytes(authority.file.read_bytes())
    (folder / "namespace").write_text("shop")


@asynccontextmanager
async def serve(leaf: Leaf) -> AsyncIterator[tuple[ApiServer, str]]:
    """Give a server and its URL."""
    server = ApiServer()
    app = web.Application()
    app.router.add_get("/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices", server.handle)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(leaf.certificate_file, leaf.key_file)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        port = runner.addresses[0][1]
        yield server, f"https://127.0.0.1:{port}"
    finally:
        server.drop_streams()
        await runner.cleanup()
