"""Each server resumes as its settings mean it to, so that a verdict that differs is the exporter's fault."""

import ssl
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from exporter.model.target import Address, TlsVersion
from tests.servers import (
    apache,
    caddy,
    envoy,
    gnutls,
    granian,
    h2o,
    haproxy,
    hitch,
    java,
    lighttpd,
    nginx,
    node,
    s_server,
    stunnel,
    traefik,
)
from tests.servers.certificates import Authority, Leaf
from tests.servers.lighttpd import Library
from tests.servers.ports import Ports
from tests.servers.process import Server
from tests.servers.ticket_keys import ticket_key, write_ticket_key
from tests.servers.visit import trust, visit

HOST = "127.0.0.2"
Start = Callable[[Path, Address, Any], Server]
Settings = Callable[..., Any]

ROWS = [  # name, program, how it is started, its settings, and whether it resumes at home in TLS 1.2 and in TLS 1.3
    ("nginx", "nginx", nginx.start, nginx.Settings, True, True),
    ("nginx, cache", "nginx", nginx.start, partial(nginx.Settings, tickets=False, cache="shared:tls:1m"), True, True),
    ("nginx, neither", "nginx", nginx.start, partial(nginx.Settings, tickets=False), False, False),
    ("HAProxy", "haproxy", haproxy.start, haproxy.Settings, True, True),
    ("HAProxy, cache", "haproxy", haproxy.start, partial(haproxy.Settings, tickets=False), True, True),
    ("GnuTLS", "gnutls-serv", gnutls.start, gnutls.Settings, True, True),
    ("GnuTLS, cache", "gnutls-serv", gnutls.start, partial(gnutls.Settings, tickets=False), True, False),
    (
        "GnuTLS, neither",
        "gnutls-serv",
        gnutls.start,
        partial(gnutls.Settings, tickets=False, cache=False),
        False,
        False,
    ),
    ("s_server", "openssl", s_server.start, s_server.Settings, True, True),
    ("s_server, cache", "openssl", s_server.start, partial(s_server.Settings, tickets=False), True, True),
    ("Node", "node", node.start, node.Settings, True, True),
    ("Caddy", "caddy", caddy.start, caddy.Settings, True, True),
    ("Caddy, no tickets", "caddy", caddy.start, partial(caddy.Settings, tickets=False), False, False),
    ("Apache", "apache2", apache.start, apache.Settings, True, True),
    ("Apache, cache", "apache2", apache.start, partial(apache.Settings, tickets=False, cache=True), True, True),
    ("Apache, neither", "apache2", apache.start, partial(apache.Settings, tickets=False), False, False),
    ("H2O", "h2o", h2o.start, h2o.Settings, True, True),
    ("H2O, cache", "h2o", h2o.start, partial(h2o.Settings, tickets=False, cache=True), True, True),
    ("H2O, neither", "h2o", h2o.start, partial(h2o.Settings, tickets=False), False, False),
    ("Envoy", "envoy", envoy.start, envoy.Settings, True, True),
    ("Envoy, cache", "envoy", envoy.start, partial(envoy.Settings, tickets=False), True, False),
    ("Java", "javac", java.start, java.Settings, True, True),
    ("Java, cache", "javac", java.start, partial(java.Settings, tickets=False), True, True),
    ("Hitch", "hitch", hitch.start, hitch.Settings, True, True),
    ("stunnel", "stunnel4", stunnel.start, stunnel.Settings, True, True),
    ("stunnel, cache", "stunnel4", stunnel.start, partial(stunnel.Settings, tickets=False), True, True),
    (
        "stunnel, neither",
        "stunnel4",
        stunnel.start,
        partial(stunnel.Settings, tickets=False, resumption=False),
        False,
        False,
    ),
    ("lighttpd", Library.OPENSSL.file, lighttpd.start, lighttpd.Settings, True, True),
    (
        "lighttpd, no tickets",
        Library.OPENSSL.file,
        lighttpd.start,
        partial(lighttpd.Settings, tickets=False),
        False,
        False,
    ),
    ("lighttpd, NSS", Library.NSS.file, lighttpd.start, partial(lighttpd.Settings, library=Library.NSS), True, True),
    (
        "lighttpd, wolfSSL",
        Library.WOLFSSL.file,
        lighttpd.start,
        partial(lighttpd.Settings, library=Library.WOLFSSL),
        True,
        True,
    ),
    ("Traefik", "traefik", traefik.start, traefik.Settings, True, True),
    ("Traefik, no tickets", "traefik", traefik.start, partial(traefik.Settings, tickets=False), False, False),
    ("Granian", "granian", granian.start, granian.Settings, True, True),
]
SERVERS = pytest.mark.parametrize(
    ("start", "settings", "resumes"),
    [
        pytest.param(
            start,
            settings,
            {TlsVersion.TLS12: tls12, TlsVersion.TLS13: tls13},
            id=name,
            marks=pytest.mark.servers(program),
        )
        for name, program, start, settings, tls12, tls13 in ROWS
    ],
)
KEPT_KEYS = [pytest.param(True, True, id="key file"), pytest.param(False, False, id="key of its own")]
PLAIN_PARAMS = [
    pytest.param(start, settings, id=name, marks=pytest.mark.servers(program))
    for name, program, start, settings, *_ in ROWS
    if "," not in name
]
PLAIN = pytest.mark.parametrize(("start", "settings"), PLAIN_PARAMS)
VERSIONED = pytest.mark.parametrize(
    ("start", "settings"), [param for param in PLAIN_PARAMS if param.id not in {"H2O", "Granian"}]
)  # those two cannot be kept from TLS 1.3


@SERVERS
def test_resumption_at_home(
    start: Start,
    settings: Settings,
    resumes: dict[TlsVersion, bool],
    tmp_path: Path,
    ports: Ports,
    authority: Authority,
    leaf: Leaf,
) -> None:
    """A server takes its own sessions back where its settings say so, and nowhere else."""
    seen = {}
    with start(tmp_path / "server", Address(HOST, ports.claim()), settings(leaf=leaf)) as server:
        for version in TlsVersion:
            context = trust(authority.file, version)
            first = visit(server.address, context)
            second = visit(server.address, context, first.session)
            seen[version] = second.resumed

            assert (False, 200, 200) == (first.resumed, first.status, second.status)
            assert f"TLSv{version}" == first.version

    assert resumes == seen


@VERSIONED
@pytest.mark.parametrize("only", TlsVersion)
def test_single_version(
    only: TlsVersion,
    start: Start,
    settings: Settings,
    tmp_path: Path,
    ports: Ports,
    authority: Authority,
    leaf: Leaf,
) -> None:
    """A server that is told to speak one version refuses a client that speaks the other alone."""
    (other,) = set(TlsVersion) - {only}
    with start(tmp_path / "server", Address(HOST, ports.claim()), settings(leaf=leaf, versions=(only,))) as server:
        assert f"TLSv{only}" == visit(server.address, trust(authority.file, only)).version
        with pytest.raises(OSError):  # noqa: PT011 - an alert from most of them, and a closed connection from some
            visit(server.address, trust(authority.file, other))


@PLAIN
def test_rsa_certificate(
    start: Start,
    settings: Settings,
    tmp_path: Path,
    ports: Ports,
    authority: Authority,
    rsa_leaf: Leaf,
) -> None:
    """Every server takes a certificate with an RSA key as well."""
    with start(tmp_path / "server", Address(HOST, ports.claim()), settings(leaf=rsa_leaf)) as server:
        assert 200 == visit(server.address, trust(authority.file, TlsVersion.TLS13)).status


@PLAIN
def test_ipv6(start: Start, settings: Settings, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """Every server listens on the IPv6 loopback address as well."""
    with start(tmp_path / "server", Address("::1", ports.claim()), settings(leaf=leaf)) as server:
        assert 200 == visit(server.address, trust(authority.file, TlsVersion.TLS13)).status


@PLAIN
def test_restart(
    start: Start, settings: Settings, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """A key that is kept in memory alone does not outlive the process."""
    context = trust(authority.file, TlsVersion.TLS13)
    with start(tmp_path / "server", Address(HOST, ports.claim()), settings(leaf=leaf)) as server:
        session = visit(server.address, context).session
        server.restart()

        assert not visit(server.address, context, session).resumed


@pytest.mark.servers("nginx")
@pytest.mark.parametrize("version", TlsVersion)
def test_nginx_reload(version: TlsVersion, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """A key that is kept for decryption spares returning clients a full handshake, and one that is dropped does not."""
    context = trust(authority.file, version)
    old, new = write_ticket_key(tmp_path, "old"), write_ticket_key(tmp_path, "new")
    settings = nginx.Settings(leaf=leaf, ticket_keys=(old,))
    with nginx.start(tmp_path / "nginx", Address(HOST, ports.claim()), settings) as server:
        session = visit(server.address, context).session
        server.reload(replace(settings, ticket_keys=(new, old)))
        with_overlap = visit(server.address, context, session).resumed
        server.reload(replace(settings, ticket_keys=(new,)))

        assert (True, False) == (with_overlap, visit(server.address, context, session).resumed)


@pytest.mark.servers("apache2")
@pytest.mark.parametrize(("key", "survives"), KEPT_KEYS)
def test_apache_reload(
    key: bool, survives: bool, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """A graceful restart makes a new key, unless there is a file with one."""
    context = trust(authority.file, TlsVersion.TLS13)
    settings = apache.Settings(leaf=leaf, ticket_key=write_ticket_key(tmp_path, "one", 48) if key else None)
    with apache.start(tmp_path / "apache", Address(HOST, ports.claim()), settings) as server:
        session = visit(server.address, context).session
        server.reload(settings)

        assert survives is visit(server.address, context, session).resumed


@pytest.mark.servers("haproxy")
def test_haproxy_key_push(tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """A ticket lives while its key is among the last three, and no longer."""
    context = trust(authority.file, TlsVersion.TLS13)
    settings = haproxy.Settings(leaf=leaf, ticket_keys=tuple(ticket_key(label) for label in "abc"))
    resumed = []
    with haproxy.start(tmp_path / "haproxy", Address(HOST, ports.claim()), settings) as server:
        session = visit(server.address, context).session
        for label in "def":
            server.push_ticket_key(ticket_key(label))
            resumed.append(visit(server.address, context, session).resumed)
        with pytest.raises(ValueError, match="tls-key"):
            server.push_ticket_key(b"short")

    assert [True, False, False] == resumed


@pytest.mark.servers("openssl")
def test_early_data_makes_tickets_single_use(tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """With early data on, `s_server` takes each ticket once."""
    context = trust(authority.file, TlsVersion.TLS13)
    settings = s_server.Settings(leaf=leaf, early_data=True)
    with s_server.start(tmp_path / "s_server", Address(HOST, ports.claim()), settings) as server:
        session = visit(server.address, context, http=False).session

        assert [True, False] == [visit(server.address, context, session, http=False).resumed for _ in range(2)]


@pytest.mark.servers("granian")
@pytest.mark.parametrize(
    ("version", "expected"),
    [
        pytest.param(TlsVersion.TLS12, [True, True], id="session id"),
        pytest.param(TlsVersion.TLS13, [True, False], id="ticket"),
    ],
)
def test_granian_tickets_are_single_use(
    version: TlsVersion, expected: list[bool], tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """The sessions that rustls keeps are given away with the first TLS 1.3 ticket, and stay in TLS 1.2."""
    context = trust(authority.file, version)
    with granian.start(tmp_path / "granian", Address(HOST, ports.claim()), granian.Settings(leaf=leaf)) as server:
        session = visit(server.address, context).session

        assert expected == [visit(server.address, context, session).resumed for _ in expected]


@pytest.mark.servers("nginx")
def test_stopped_server(tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """A stopped server refuses connections, and one that is started again does not."""
    context = trust(authority.file, TlsVersion.TLS13)
    with nginx.start(tmp_path / "nginx", Address(HOST, ports.claim()), nginx.Settings(leaf=leaf)) as server:
        server.stop()
        with pytest.raises(ConnectionRefusedError):
            visit(server.address, context)
        server.restart()

        assert 200 == visit(server.address, context).status


@pytest.mark.servers("nginx")
def test_untrusted_authority(tmp_path: Path, ports: Ports, leaf: Leaf) -> None:
    """A client that trusts nobody sees a certificate that does not verify."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with (
        nginx.start(tmp_path / "nginx", Address(HOST, ports.claim()), nginx.Settings(leaf=leaf)) as server,
        pytest.raises(ssl.SSLCertVerificationError),
    ):
        visit(server.address, context)
