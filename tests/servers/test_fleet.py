"""Backends share sessions where they were given one key, and do not where they have keys of their own."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from exporter.model.target import Address, TlsVersion
from tests.servers import apache, caddy, envoy, fleet, gnutls, h2o, haproxy, lighttpd, nginx, node, stunnel
from tests.servers.certificates import Authority, Leaf
from tests.servers.lighttpd import Library
from tests.servers.ports import Ports
from tests.servers.process import Server, ServerError
from tests.servers.ticket_keys import KeySize, ticket_key, write_ticket_key
from tests.servers.visit import trust, visit

Start = Callable[[Path, Address, Any], Server]
MakeSettings = Callable[[Path, Leaf, str], Any]
"""From a folder that the backends have in common, a certificate and the label of a key: settings of one backend."""


def nginx_settings(size: KeySize) -> MakeSettings:
    """Return nginx's settings with a key file of this size."""
    return lambda folder, leaf, key: nginx.Settings(leaf=leaf, ticket_keys=(write_ticket_key(folder, key, size),))


def haproxy_settings(size: KeySize) -> MakeSettings:
    """Return HAProxy's settings with three keys of this size."""
    return lambda _folder, leaf, key: haproxy.Settings(
        leaf=leaf, ticket_keys=tuple(ticket_key(key + turn, size) for turn in "012")
    )


def node_settings(_folder: Path, leaf: Leaf, key: str) -> node.Settings:
    """Return Node's settings."""
    return node.Settings(leaf=leaf, ticket_key=ticket_key(key, 48))


def caddy_settings(folder: Path, leaf: Leaf, key: str) -> caddy.Settings:
    """Return Caddy's settings, where one folder stands for one set of keys."""
    return caddy.Settings(leaf=leaf, shared_folder=folder / key)


def envoy_settings(folder: Path, leaf: Leaf, key: str) -> envoy.Settings:
    """Return Envoy's settings."""
    return envoy.Settings(leaf=leaf, ticket_keys=(write_ticket_key(folder, key),))


def apache_settings(folder: Path, leaf: Leaf, key: str) -> apache.Settings:
    """Return Apache's settings."""
    return apache.Settings(leaf=leaf, ticket_key=write_ticket_key(folder, key, 48))


def h2o_settings(_folder: Path, leaf: Leaf, key: str) -> h2o.Settings:
    """Return H2O's settings."""
    return h2o.Settings(leaf=leaf, ticket_key=ticket_key(key))


def stunnel_settings(_folder: Path, leaf: Leaf, key: str) -> stunnel.Settings:
    """Return stunnel's settings."""
    return stunnel.Settings(leaf=leaf, ticket_key=ticket_key(key))


def lighttpd_settings(library: Library) -> MakeSettings:
    """Return lighttpd's settings with this library."""
    return lambda _folder, leaf, key: lighttpd.Settings(leaf=leaf, library=library, ticket_key=ticket_key(key))


@pytest.mark.parametrize("version", TlsVersion)
@pytest.mark.parametrize(
    ("start", "make_settings"),
    [
        pytest.param(nginx.start, nginx_settings(48), id="nginx, 48 bytes", marks=pytest.mark.servers("nginx")),
        pytest.param(nginx.start, nginx_settings(80), id="nginx, 80 bytes", marks=pytest.mark.servers("nginx")),
        pytest.param(haproxy.start, haproxy_settings(48), id="HAProxy, 48", marks=pytest.mark.servers("haproxy")),
        pytest.param(haproxy.start, haproxy_settings(80), id="HAProxy, 80", marks=pytest.mark.servers("haproxy")),
        pytest.param(node.start, node_settings, id="Node", marks=pytest.mark.servers("node")),
        pytest.param(caddy.start, caddy_settings, id="Caddy", marks=pytest.mark.servers("caddy")),
        pytest.param(apache.start, apache_settings, id="Apache", marks=pytest.mark.servers("apache2")),
        pytest.param(h2o.start, h2o_settings, id="H2O", marks=pytest.mark.servers("h2o")),
        pytest.param(stunnel.start, stunnel_settings, id="stunnel", marks=pytest.mark.servers("stunnel4")),
        *(
            pytest.param(
                lighttpd.start,
                lighttpd_settings(library),
                id=f"lighttpd, {library.name}",
                marks=pytest.mark.servers(library.file),
            )
            for library in (Library.OPENSSL, Library.WOLFSSL)
        ),
        pytest.param(envoy.start, envoy_settings, id="Envoy", marks=pytest.mark.servers("envoy")),
    ],
)
def test_shared_and_foreign_keys(
    version: TlsVersion,
    start: Start,
    make_settings: MakeSettings,
    tmp_path: Path,
    ports: Ports,
    authority: Authority,
    leaf: Leaf,
) -> None:
    """Of three backends, the second has the first one's key and the third has another."""
    settings = [make_settings(tmp_path, leaf, key) for key in ("one", "one", "other")]
    with fleet.start(start, tmp_path, fleet.addresses(ports.claim()), settings) as servers:
        assert [True, True, False] == crossings(servers, trust_file=authority.file, version=version)


@pytest.mark.servers("node")
@pytest.mark.parametrize("version", TlsVersion)
def test_one_key_in_two_contexts(
    version: TlsVersion, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """A shared key is not enough where the session contexts differ."""
    settings = [
        node.Settings(leaf=leaf, ticket_key=ticket_key("one", 48), session_context=context) for context in ("a", "b")
    ]
    with fleet.start(node.start, tmp_path, fleet.addresses(ports.claim(), 2), settings) as servers:
        assert [True, False] == crossings(servers, trust_file=authority.file, version=version)


@pytest.mark.servers("gnutls-serv")
@pytest.mark.parametrize("version", TlsVersion)
def test_own_keys(version: TlsVersion, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """Servers without a setting for it never share, here with a port for each."""
    where = [Address(host, ports.claim()) for host in ("127.0.0.2", "127.0.0.3")]
    with fleet.start(gnutls.start, tmp_path, where, [gnutls.Settings(leaf=leaf)] * 2) as servers:
        assert [True, False] == crossings(servers, trust_file=authority.file, version=version)


@pytest.mark.servers("nginx")
def test_one_that_does_not_start(tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """Where one server of a fleet fails, those before it do not stay behind, and its log says why."""
    where = fleet.addresses(ports.claim(), 2)
    settings = [nginx.Settings(leaf=leaf), nginx.Settings(leaf=leaf, server="no_such_directive on;")]
    with (
        pytest.raises(ServerError, match='unknown directive "no_such_directive"'),
        fleet.start(nginx.start, tmp_path, where, settings),
    ):
        pytest.fail("a fleet with a broken server came up")
    with pytest.raises(ConnectionRefusedError):
        visit(where[0], trust(authority.file, TlsVersion.TLS13))


def crossings(servers: Sequence[Server], *, trust_file: Path, version: TlsVersion) -> list[bool]:
    """Take a session from the first server and tell which of the servers, itself first, take it back."""
    context = trust(trust_file, version)
    session = visit(servers[0].address, context).session
    return [visit(server.address, context, session).resumed for server in servers]
