"""How real servers end connections that carry several requests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.model.connections import End
from exporter.model.target import Address, TlsVersion
from tests.keepalive.asking import H2, ask_again, gist, offering, reuse_of
from tests.servers import apache, caddy, gnutls, h2o, haproxy, nginx, node
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server

_HTTP1 = ("http/1.1",)

Start = Callable[[Path, Address, Leaf], Server]


def _nginx(server: str = "", listen: str = "") -> Start:
    return lambda folder, address, leaf: nginx.start(
        folder, address, nginx.Settings(leaf=leaf, server=server, listen=listen)
    )


def _haproxy(defaults: str) -> Start:
    return lambda folder, address, leaf: haproxy.start(
        folder, address, haproxy.Settings(leaf=leaf, bind="alpn h2,http/1.1", frontend=defaults)
    )


def _apache(extra: str) -> Start:
    return lambda folder, address, leaf: apache.start(folder, address, apache.Settings(leaf=leaf, extra=extra))


SERVERS = [
    pytest.param(_nginx(), _HTTP1, ("1.1", 4, 4, End.OWN_LIMIT), id="nginx", marks=pytest.mark.servers("nginx")),
    pytest.param(
        _nginx("keepalive_requests 3;"),
        _HTTP1,
        ("1.1", 3, 2, End.MAX_REQUESTS),
        id="nginx, 3 requests",
        marks=pytest.mark.servers("nginx"),
    ),
    pytest.param(
        _nginx("keepalive_timeout 0;"),
        _HTTP1,
        ("1.1", 1, 0, End.CONNECTION_CLOSE),
        id="nginx without keep-alive",
        marks=pytest.mark.servers("nginx"),
    ),
    pytest.param(
        _nginx(listen="http2"),
        H2,
        ("2", 4, 4, End.OWN_LIMIT),
        id="nginx, HTTP/2",
        marks=pytest.mark.servers("nginx"),
    ),
    pytest.param(
        _nginx("keepalive_requests 3;", "http2"),
        H2,
        ("2", 3, 2, End.GOAWAY),
        id="nginx, HTTP/2, 3 requests",
        marks=pytest.mark.servers("nginx"),
    ),
    pytest.param(
        _nginx(), H2, ("1.1", 4, 4, End.OWN_LIMIT), id="nginx that has no HTTP/2", marks=pytest.mark.servers("nginx")
    ),
    pytest.param(
        _haproxy("option http-server-close"),
        _HTTP1,
        ("1.1", 4, 4, End.OWN_LIMIT),
        id="HAProxy that closes to its server alone",
        marks=pytest.mark.servers("haproxy"),
    ),
    pytest.param(
        _haproxy("option httpclose"),
        _HTTP1,
        ("1.1", 1, 0, End.CONNECTION_CLOSE),
        id="HAProxy, httpclose",
        marks=pytest.mark.servers("haproxy"),
    ),
    pytest.param(
        _haproxy(""), H2, ("2", 4, 4, End.OWN_LIMIT), id="HAProxy, HTTP/2", marks=pytest.mark.servers("haproxy")
    ),
    pytest.param(
        _apache("MaxKeepAliveRequests 3"),
        _HTTP1,
        ("1.1", 4, 3, End.MAX_REQUESTS),
        id="Apache, 3 requests behind the first",
        marks=pytest.mark.servers("apache2"),
    ),
    pytest.param(
        _apache("KeepAlive Off"),
        _HTTP1,
        ("1.1", 1, 0, End.CONNECTION_CLOSE),
        id="Apache without keep-alive",
        marks=pytest.mark.servers("apache2"),
    ),
    pytest.param(
        lambda folder, address, leaf: caddy.start(folder, address, caddy.Settings(leaf=leaf)),
        H2,
        ("2", 4, 4, End.OWN_LIMIT),
        id="Caddy, HTTP/2",
        marks=pytest.mark.servers("caddy"),
    ),
    pytest.param(
        lambda folder, address, leaf: h2o.start(folder, address, h2o.Settings(leaf=leaf)),
        H2,
        ("2", 4, 4, End.OWN_LIMIT),
        id="H2O, HTTP/2",
        marks=pytest.mark.servers("h2o"),
    ),
    pytest.param(
        lambda folder, address, leaf: node.start(folder, address, node.Settings(leaf=leaf)),
        _HTTP1,
        ("1.1", 4, 4, End.OWN_LIMIT),
        id="Node",
        marks=pytest.mark.servers("node"),
    ),
    pytest.param(
        lambda folder, address, leaf: node.start(folder, address, node.Settings(leaf=leaf, http2=True)),
        H2,
        ("2", 4, 4, End.OWN_LIMIT),
        id="Node, HTTP/2",
        marks=pytest.mark.servers("node"),
    ),
    pytest.param(
        lambda folder, address, leaf: gnutls.start(folder, address, gnutls.Settings(leaf=leaf)),
        (),
        ("1.0", 1, 0, End.HTTP_1_0),
        id="gnutls-serv",
        marks=pytest.mark.servers("gnutls-serv"),
    ),
]


@pytest.mark.parametrize(("start", "alpn", "expected"), SERVERS)
@pytest.mark.parametrize("version", list(TlsVersion))
async def test_connections_end(
    start: Start,
    alpn: tuple[str, ...],
    expected: tuple[str, int, int, End],
    version: TlsVersion,
    authority: Authority,
    leaf: Leaf,
    tmp_path: Path,
    ports: Ports,
) -> None:
    """A connection carries as many requests as the server lets it, and its end has the server's own reason."""
    address = Address("127.0.0.1", ports.claim())
    server = start(tmp_path / "server", address, leaf)
    try:
        handshake = await ask_again(offering(address, authority, alpn), version)
    finally:
        server.stop()

    assert gist(handshake) == expected
    assert reuse_of(handshake).failure is None


@pytest.mark.servers("apache2")
async def test_what_apache_announces(authority: Authority, leaf: Leaf, tmp_path: Path, ports: Ports) -> None:
    """The Keep-Alive header's timeout and its count of further requests are read from each answer."""
    settings = apache.Settings(leaf=leaf, extra="KeepAliveTimeout 7\nMaxKeepAliveRequests 4")
    address = Address("127.0.0.1", ports.claim())
    server = apache.start(tmp_path / "server", address, settings)
    try:
        handshake = await ask_again(offering(address, authority), requests=3)
    finally:
        server.stop()

    announced = [answer.announced for answer in reuse_of(handshake).answers]
    assert [(7, 3), (7, 2)] == [(one.timeout, one.most) for one in announced]


@pytest.mark.servers("nginx")
@pytest.mark.parametrize(
    ("status", "body"), [("204", ""), ("301", "https://other.test/"), ("404", "none"), ("503", "")]
)
async def test_any_status_is_judged(
    status: str, body: str, authority: Authority, leaf: Leaf, tmp_path: Path, ports: Ports
) -> None:
    """A connection is judged whatever the answers' status is, and a redirect is not followed."""
    server_block = f'location = / {{ return {status} "{body}"; }}'
    address = Address("127.0.0.1", ports.claim())
    server = nginx.start(tmp_path / "server", address, nginx.Settings(leaf=leaf, server=server_block))
    try:
        handshake = await ask_again(offering(address, authority))
    finally:
        server.stop()

    assert ("1.1", 4, 4, End.OWN_LIMIT) == gist(handshake)
    assert {int(status)} == {answer.status for answer in reuse_of(handshake).answers}
