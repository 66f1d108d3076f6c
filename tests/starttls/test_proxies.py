"""The PROXY protocol and HTTP tunnels, with real balancers and a real proxy."""

import ssl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, Endpoint, ProxyProtocol, StartTls, TlsVersion
from exporter.wire.prelude import PreludeStep
from tests.servers import dovecot, haproxy, nginx, tinyproxy
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server
from tests.servers.visit import trust
from tests.starttls.opening import opened, target_at, visit

Start = Callable[[Path, Address, Any], Server]

HOST, PROXY_HOST = "127.0.0.2", "127.0.0.3"
BALANCERS = pytest.mark.parametrize(
    ("start", "settings", "listen"),
    [
        pytest.param(
            nginx.start, nginx.Settings, {"listen": "proxy_protocol"}, id="nginx", marks=pytest.mark.servers("nginx")
        ),
        pytest.param(
            haproxy.start,
            haproxy.Settings,
            {"bind": "accept-proxy"},
            id="HAProxy",
            marks=pytest.mark.servers("haproxy"),
        ),
    ],
)
HOSTS = pytest.mark.parametrize("host", [pytest.param(HOST, id="IPv4"), pytest.param("::1", id="IPv6")])


@BALANCERS
@HOSTS
@pytest.mark.parametrize("header", ProxyProtocol)
def test_header_that_is_required(
    header: ProxyProtocol,
    host: str,
    start: Start,
    settings: Callable[..., Any],
    listen: dict[str, str],
    tmp_path: Path,
    ports: Ports,
    authority: Authority,
    leaf: Leaf,
) -> None:
    """A balancer's backend takes the header of either version, and resumes behind it."""
    address = Address(host, ports.claim())
    target = replace(target_at(address), proxy_protocol=header)
    context = trust(authority.file, TlsVersion.TLS13)
    with start(tmp_path / "server", address, settings(leaf=leaf, **listen)):
        first = visit(target, address, context)

        assert (False, True) == (first.resumed, visit(target, address, context, first.session).resumed)


@BALANCERS
def test_header_that_is_missing(
    start: Start,
    settings: Callable[..., Any],
    listen: dict[str, str],
    tmp_path: Path,
    ports: Ports,
    authority: Authority,
    leaf: Leaf,
) -> None:
    """A listener that expects the header hangs up without a word."""
    address = Address(HOST, ports.claim())
    context = trust(authority.file, TlsVersion.TLS13)
    with (
        start(tmp_path / "server", address, settings(leaf=leaf, **listen)),
        pytest.raises((ConnectionResetError, ssl.SSLEOFError)),
    ):
        visit(target_at(address), address, context)


@pytest.mark.servers("nginx")
@pytest.mark.parametrize("header", ProxyProtocol)
@HOSTS
def test_what_the_header_tells(
    host: str, header: ProxyProtocol, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """A backend reads our own address and port out of the header, and its own."""
    address = Address(host, ports.claim())
    target = replace(target_at(address), proxy_protocol=header)
    said = "$proxy_protocol_addr $proxy_protocol_port $proxy_protocol_server_addr $proxy_protocol_server_port"
    settings = nginx.Settings(leaf=leaf, listen="proxy_protocol", server=f'location /said {{ return 200 "{said}"; }}')
    context = trust(authority.file, TlsVersion.TLS13)
    with nginx.start(tmp_path / "server", address, settings), opened(target, address) as (connection, _):
        own = connection.getsockname()
        with context.wrap_socket(connection, server_hostname="site.test") as tls:
            tls.sendall(b"GET /said HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: tls.recv(65536), b""))

    assert f"{own[0]} {own[1]} {address.host} {address.port}".encode() == answer.partition(b"\r\n\r\n")[2]


@pytest.mark.servers("tinyproxy", "nginx")
@HOSTS
def test_tunnel(host: str, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """Through a proxy's tunnel the backend shakes hands, and resumes, the PROXY protocol's header ahead of it."""
    address, proxy = Address(host, ports.claim()), Address(PROXY_HOST, ports.claim())
    target = replace(target_at(address), proxy=proxy, proxy_protocol=ProxyProtocol.V2)
    context = trust(authority.file, TlsVersion.TLS13)
    with (
        tinyproxy.start(tmp_path / "proxy", proxy, tinyproxy.Settings()),
        nginx.start(tmp_path / "server", address, nginx.Settings(leaf=leaf, listen="proxy_protocol")),
    ):
        first = visit(target, address, context)

        assert (False, True) == (first.resumed, visit(target, address, context, first.session).resumed)


@pytest.mark.servers("tinyproxy", "dovecot")
def test_dialogue_in_a_tunnel(tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """A server that speaks first is heard through a tunnel, too."""
    address, proxy = Address(HOST, ports.claim()), Address(PROXY_HOST, ports.claim())
    target = replace(target_at(address), proxy=proxy, starttls=StartTls.IMAP)
    with (
        tinyproxy.start(tmp_path / "proxy", proxy, tinyproxy.Settings()),
        dovecot.start(tmp_path / "server", address, dovecot.Settings(leaf=leaf)),
    ):
        assert "TLSv1.3" == visit(target, address, trust(authority.file, TlsVersion.TLS13)).version


@pytest.mark.servers("tinyproxy")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param(tinyproxy.Settings(tunnel_ports=(443,)), "status 403", id="port not allowed"),
        pytest.param(tinyproxy.Settings(password="secret"), "407: the proxy wants a password", id="password"),
        pytest.param(tinyproxy.Settings(), "status 500", id="nobody there"),
    ],
)
def test_tunnel_that_is_refused(settings: tinyproxy.Settings, expected: str, tmp_path: Path, ports: Ports) -> None:
    """A proxy that says no is told by its status, and its page is no backend's answer."""
    address, proxy = Address(HOST, ports.claim()), Endpoint(PROXY_HOST, ports.claim())
    target = replace(target_at(address), proxy=proxy)
    with (
        tinyproxy.start(tmp_path / "proxy", Address(*proxy), settings),
        opened(target, address) as (_, step),
    ):
        assert PreludeStep(failure=Failure(Stage.PROXY, Reason.REJECTED, expected)) == step
