"""Conversations with nginx and H2O: requests that share a connection, and how it ends."""

from pathlib import Path

import pytest

from exporter.model.connections import Announced, End
from exporter.model.target import Address, HttpSettings
from tests.servers import h2o, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.wire.talking import talk

_HOST = "127.0.0.2"
_H1, _H2 = "http/1.1", "h2"
_VERSIONS = {_H1: "1.1", _H2: "2"}
_LONG = 'location /long { add_header Keep-Alive "timeout=7, max=9"; return 200 "%s"; }' % ("x" * 3000)

NGINX = [
    pytest.param(_H1, "", [None] * 5, id="HTTP/1.1"),
    pytest.param(_H2, "", [None] * 5, id="HTTP/2"),
    pytest.param(_H1, "keepalive_requests 3;", [None, None, End.MAX_REQUESTS], id="HTTP/1.1, three requests"),
    pytest.param(_H2, "keepalive_requests 3;", [None, None, End.GOAWAY], id="HTTP/2, three requests"),
    pytest.param(_H1, "keepalive_timeout 0;", [End.CONNECTION_CLOSE], id="HTTP/1.1, closed each time"),
    pytest.param(_H2, "keepalive_timeout 0;", [End.GOAWAY], id="HTTP/2, closed each time"),
]


@pytest.mark.servers("nginx")
@pytest.mark.parametrize(("alpn", "directives", "ends"), NGINX)
async def test_nginx(
    alpn: str,
    directives: str,
    ends: list[End | None],
    tmp_path: Path,
    ports: Ports,
    authority: Authority,
    leaf: Leaf,
) -> None:
    """The connection carries as many requests as nginx means it to, and ends for its reason."""
    settings = nginx.Settings(leaf=leaf, listen="http2" if alpn == _H2 else "", server=directives)
    with nginx.start(tmp_path / "nginx", Address(_HOST, ports.claim()), settings) as server:
        told = await talk(server.address, authority.file, alpn, requests=5)

    assert [progress.end for progress in told] == ends
    assert {(progress.status, progress.version, progress.body_bytes) for progress in told} == {
        (200, _VERSIONS[alpn], 6)
    }


@pytest.mark.servers("h2o")
@pytest.mark.parametrize("alpn", [_H1, _H2])
async def test_h2o(alpn: str, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """The same with H2O, five times on one connection."""
    with h2o.start(tmp_path / "h2o", Address(_HOST, ports.claim()), h2o.Settings(leaf=leaf)) as server:
        told = await talk(server.address, authority.file, alpn, requests=5)

    assert [(progress.failure, progress.end, progress.version) for progress in told] == [
        (None, None, _VERSIONS[alpn])
    ] * 5


@pytest.mark.servers("nginx")
@pytest.mark.parametrize("alpn", [_H1, _H2])
@pytest.mark.parametrize(
    ("http", "body"),
    [
        pytest.param(HttpSettings(path="/long"), 3000, id="GET"),
        pytest.param(HttpSettings(path="/long", method="HEAD"), 0, id="HEAD"),
        pytest.param(HttpSettings(path="/long", method="POST"), 3000, id="POST"),
    ],
)
async def test_methods(
    alpn: str, http: HttpSettings, body: int, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """Each method gets its answer, on both versions, and what the head announces is read where it may stand."""
    settings = nginx.Settings(leaf=leaf, listen="http2" if alpn == _H2 else "", server=_LONG if alpn == _H1 else _PLAIN)
    with nginx.start(tmp_path / "nginx", Address(_HOST, ports.claim()), settings) as server:
        told = await talk(server.address, authority.file, alpn, requests=2, settings=http)

    announced = Announced(7, 9) if alpn == _H1 else Announced()
    assert [(progress.status, progress.body_bytes, progress.announced) for progress in told] == [
        (200, body, announced)
    ] * 2


_PLAIN = _LONG.replace('add_header Keep-Alive "timeout=7, max=9";', "")
