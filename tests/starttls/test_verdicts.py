"""What rounds make of servers with something ahead of TLS."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, HttpSettings, ProxyProtocol, StartTls, Target, TlsVersion
from exporter.model.verdicts import RoundResult, TargetState
from tests.fleets.watch import both, site, states, watching
from tests.servers import dovecot, fleet, haproxy, mariadb, nginx, tinyproxy
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server
from tests.servers.ticket_keys import write_ticket_key
from tests.starttls.rows import ROWS, Row, params

HOST, PROXY_HOST = "127.0.0.2", "127.0.0.9"
STATES = {
    "Exim": both(TargetState.CONSISTENT),
    "Exim, no resumption": both(TargetState.NO_TICKETS),
    "Dovecot IMAP": both(TargetState.CONSISTENT),
    "Dovecot POP3": both(TargetState.CONSISTENT),
    "vsftpd": both(TargetState.CONSISTENT),
    "slapd": both(TargetState.NO_TICKETS),
    "PostgreSQL": both(TargetState.NO_TICKETS),
    "MariaDB": both(TargetState.CONSISTENT),
    # Each process has a key of its own. Only TLS 1.3 shows that there are many, by two tickets of one connection.
    "Dovecot IMAP, a process for each connection": {
        TlsVersion.TLS12: TargetState.BROKEN,
        TlsVersion.TLS13: TargetState.MIXED,
    },
}


def turning(backends: tuple[Address, ...], authority: Authority, starttls: StartTls) -> Target:
    """Give a target that turns to TLS, as the configuration makes it: without a request and without ALPN."""
    target = site(backends, authority)
    tls = replace(target.tls, alpn=())
    return replace(target, tls=tls, starttls=starttls, http=HttpSettings(enabled=False))


async def watched(target: Target, rounds: int = 2) -> RoundResult:
    """Return the last of some rounds."""
    async with watching(target) as watch:
        return (await watch.rounds(rounds))[-1]


@pytest.mark.parametrize("row", params(ROWS))
async def test_states(row: Row, tmp_path: Path, ports: Ports, authority: Authority, rsa_leaf: Leaf) -> None:
    """Servers of mail, files, directories and databases are judged like any other."""
    address = Address(HOST, ports.claim())
    with row.start(tmp_path / "server", address, row.settings(leaf=rsa_leaf)):
        result = await watched(turning((address,), authority, row.starttls))

    assert (STATES[row.name], ()) == (states(result), result.failures)


@pytest.mark.servers("mariadbd")
async def test_database_is_left_with_a_login(tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """No connection ends before a login, for which MariaDB would lock our host out in the end."""
    address = Address(HOST, ports.claim())
    with mariadb.start(tmp_path / "server", address, mariadb.Settings(leaf=leaf, accounts=True)) as server:
        await watched(turning((address,), authority, StartTls.MYSQL))
        server.wait_until(lambda: server.log.count("Access denied for user 'tlsprobe'") >= 6, "six logins", seconds=5)

        assert "without authentication" not in server.log.partition("Access denied")[2]


@pytest.mark.servers("dovecot")
async def test_mail_servers_with_keys_of_their_own(
    tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """Two servers of one name that do not share their ticket key are split, behind a dialogue, too."""
    where = fleet.addresses(ports.claim(), 2)
    with fleet.start(dovecot.start, tmp_path, where, [dovecot.Settings(leaf=leaf, connections=0)] * 2):
        result = await watched(turning(where, authority, StartTls.IMAP))

    assert both(TargetState.SPLIT) == states(result)


@pytest.mark.servers("dovecot")
async def test_no_offer(tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf) -> None:
    """A server that does not offer TLS is a failure of its dialogue, and its versions are not known."""
    address = Address(HOST, ports.claim())
    with dovecot.start(tmp_path / "server", address, dovecot.Settings(leaf=leaf, tls=False)):
        result = await watched(turning((address,), authority, StartTls.IMAP), rounds=1)

    assert {(address, Failure(Stage.STARTTLS, Reason.NOT_OFFERED))} == set(result.failures)
    assert {} == dict(result.supported)


@pytest.mark.servers("nginx", "tinyproxy")
@pytest.mark.parametrize("tunnelled", [pytest.param(False, id="directly"), pytest.param(True, id="through a tunnel")])
async def test_backends_behind_a_balancer(
    tunnelled: bool, tmp_path: Path, ports: Ports, authority: Authority, leaf: Leaf
) -> None:
    """Backends that take nobody but a balancer are probed all the same, and their requests are answered."""
    where, proxy = fleet.addresses(ports.claim(), 2), Address(PROXY_HOST, ports.claim())
    settings = nginx.Settings(leaf=leaf, listen="proxy_protocol", ticket_keys=(write_ticket_key(tmp_path, "one"),))
    target = replace(site(where, authority), proxy_protocol=ProxyProtocol.V2, proxy=proxy if tunnelled else None)
    with (
        tinyproxy.start(tmp_path / "proxy", proxy, tinyproxy.Settings()),
        fleet.start(nginx.start, tmp_path, where, [settings] * 2),
    ):
        result = await watched(target)

    assert (both(TargetState.CONSISTENT), ()) == (states(result), result.failures)


@pytest.mark.parametrize(
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
async def test_what_a_missing_header_looks_like(
    start: Callable[[Path, Address, Any], Server],
    settings: Callable[..., Any],
    listen: dict[str, str],
    tmp_path: Path,
    ports: Ports,
    authority: Authority,
    leaf: Leaf,
) -> None:
    """Without the header the failure says what is likely."""
    address = Address(HOST, ports.claim())
    with start(tmp_path / "server", address, settings(leaf=leaf, **listen)):
        result = await watched(site((address,), authority), rounds=1)
    failures = {failure for _, failure in result.failures}

    assert {Stage.HANDSHAKE} == {failure.stage for failure in failures}
    assert failures <= {failure for failure in failures if "(proxy_protocol)" in failure.detail}


@pytest.mark.servers("tinyproxy")
async def test_proxy_that_refuses(tmp_path: Path, ports: Ports, authority: Authority) -> None:
    """A proxy's no is told as the proxy's."""
    address, proxy = Address(HOST, ports.claim()), Address(PROXY_HOST, ports.claim())
    target = replace(site((address,), authority, (TlsVersion.TLS13,)), proxy=proxy)
    with tinyproxy.start(tmp_path / "proxy", proxy, tinyproxy.Settings(tunnel_ports=(443,))):
        result = await watched(target, rounds=1)

    assert {(address, Failure(Stage.PROXY, Reason.REJECTED, "status 403"))} == set(result.failures)
