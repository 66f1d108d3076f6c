"""The same verdicts over fleets of other servers than nginx."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from exporter.model.target import Address, HttpSettings, TlsVersion
from exporter.model.verdicts import BackendState, Mechanism, TargetState
from tests.fleets.watch import backend_states, site, states, watching
from tests.servers import caddy, envoy, fleet, gnutls, haproxy, node, s_server
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server
from tests.servers.ticket_keys import ticket_key, write_ticket_key

RESUMES, STATEFUL, REFUSES, NO_TICKETS = (
    BackendState.RESUMES,
    BackendState.STATEFUL,
    BackendState.REFUSES,
    BackendState.NO_TICKETS,
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A fleet of three alike, and what is right to say of it.

    Attributes:
        settings: made from the certificate and a folder for key files.
        tls12, tls13: the target's state, and each backend's.
        answers: whether the server answers a request.
        wildcard: it listens on every address, so that each server needs a port of its own.
    """

    name: str
    program: str
    start: Callable[[Path, Address, Any], Server]
    settings: Callable[[Leaf, Path], Any]
    tls12: tuple[TargetState, BackendState]
    tls13: tuple[TargetState, BackendState]
    mechanism: Mechanism
    answers: bool = True
    wildcard: bool = False


def haproxy_keys(leaf: Leaf, _folder: Path) -> haproxy.Settings:
    """Three keys, the same for all."""
    return haproxy.Settings(leaf=leaf, ticket_keys=tuple(ticket_key(name, 80) for name in ("one", "two", "three")))


def envoy_keys(leaf: Leaf, folder: Path) -> envoy.Settings:
    """One key file for all."""
    return envoy.Settings(leaf=leaf, ticket_keys=(write_ticket_key(folder, "one"),))


def node_keys(leaf: Leaf, _folder: Path) -> node.Settings:
    """One key for all; Node's is of 48 bytes."""
    return node.Settings(leaf=leaf, ticket_key=ticket_key("one", 48))


def caddy_storage(leaf: Leaf, folder: Path) -> caddy.Settings:
    """One storage, in which the first Caddy leaves its key for the others."""
    return caddy.Settings(leaf=leaf, shared_folder=folder / "storage")


def alone(settings: Callable[..., Any], **given: object) -> Callable[[Leaf, Path], Any]:
    """Return settings by which no server shares anything."""
    return lambda leaf, _folder: settings(leaf=leaf, **given)


CONSISTENT = (TargetState.CONSISTENT, RESUMES)
SPLIT = (TargetState.SPLIT, RESUMES)
KEPT = (TargetState.STATEFUL, STATEFUL)
BROKEN = (TargetState.BROKEN, REFUSES)
NOTHING = (TargetState.NO_TICKETS, NO_TICKETS)

HAPROXY = partial(Case, program="haproxy", start=haproxy.start)
GNUTLS = partial(Case, program="gnutls-serv", start=gnutls.start, wildcard=True)
OPENSSL = partial(Case, program="openssl", start=s_server.start)
NODE = partial(Case, program="node", start=node.start)
CADDY = partial(Case, program="caddy", start=caddy.start)
ENVOY = partial(Case, program="envoy", start=envoy.start)

NAMED = Mechanism.RFC5077
HIDDEN = Mechanism.HIDDEN

CASES = [
    HAPROXY(name="HAProxy, shared", settings=haproxy_keys, tls12=CONSISTENT, tls13=CONSISTENT, mechanism=NAMED),
    HAPROXY(name="HAProxy", settings=alone(haproxy.Settings), tls12=SPLIT, tls13=SPLIT, mechanism=NAMED),
    HAPROXY(
        name="HAProxy, cache",
        settings=alone(haproxy.Settings, tickets=False),
        tls12=KEPT,
        tls13=KEPT,
        mechanism=Mechanism.STATEFUL,
    ),
    GNUTLS(name="GnuTLS", settings=alone(gnutls.Settings), tls12=SPLIT, tls13=SPLIT, mechanism=NAMED),
    GNUTLS(
        name="GnuTLS, cache",
        settings=alone(gnutls.Settings, tickets=False),
        tls12=KEPT,
        tls13=NOTHING,
        mechanism=Mechanism.NO_TICKETS,
    ),
    GNUTLS(
        name="GnuTLS, neither",
        settings=alone(gnutls.Settings, tickets=False, cache=False),
        tls12=NOTHING,
        tls13=NOTHING,
        mechanism=Mechanism.NO_TICKETS,
    ),
    OPENSSL(name="s_server", settings=alone(s_server.Settings), tls12=SPLIT, tls13=SPLIT, mechanism=NAMED),
    OPENSSL(
        name="s_server, cache",
        settings=alone(s_server.Settings, tickets=False),
        tls12=KEPT,
        tls13=KEPT,
        mechanism=Mechanism.STATEFUL,
    ),
    OPENSSL(
        name="s_server, single use",
        settings=alone(s_server.Settings, early_data=True),
        tls12=SPLIT,
        tls13=KEPT,
        mechanism=Mechanism.STATEFUL,
        answers=False,
    ),
    NODE(name="Node, shared", settings=node_keys, tls12=CONSISTENT, tls13=CONSISTENT, mechanism=NAMED),
    NODE(name="Node", settings=alone(node.Settings), tls12=SPLIT, tls13=SPLIT, mechanism=NAMED),
    CADDY(name="Caddy, shared", settings=caddy_storage, tls12=CONSISTENT, tls13=CONSISTENT, mechanism=HIDDEN),
    CADDY(name="Caddy", settings=alone(caddy.Settings), tls12=SPLIT, tls13=SPLIT, mechanism=HIDDEN),
    CADDY(
        name="Caddy, no tickets",
        settings=alone(caddy.Settings, tickets=False),
        tls12=NOTHING,
        tls13=NOTHING,
        mechanism=Mechanism.NO_TICKETS,
    ),
    ENVOY(name="Envoy, shared", settings=envoy_keys, tls12=CONSISTENT, tls13=CONSISTENT, mechanism=NAMED),
    ENVOY(name="Envoy", settings=alone(envoy.Settings), tls12=SPLIT, tls13=SPLIT, mechanism=NAMED),
]


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=pytest.mark.servers(case.program)) for case in CASES]
)
async def test_fleet(case: Case, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Three servers alike are judged as they are, in each of four rounds, without a failure."""
    where = fleet.addresses(ports.claim())
    if case.wildcard:
        where = tuple(address._replace(port=ports.claim()) for address in where)
    settings = case.settings(leaf, tmp_path)
    target = replace(site(where, authority), http=HttpSettings(enabled=case.answers))
    with fleet.start(case.start, tmp_path / "fleet", where, [settings] * 3):
        async with watching(target) as watch:
            results = await watch.rounds(4)

    expected = {TlsVersion.TLS12: case.tls12, TlsVersion.TLS13: case.tls13}
    for result in results:
        assert {version: state for version, (state, _) in expected.items()} == states(result)
        assert () == result.failures
        for version, (_, state) in expected.items():
            assert [state] * 3 == backend_states(result, version)
    mechanisms = {backend.mechanism for backend in results[-1].verdicts[TlsVersion.TLS13].backends.values()}
    assert {case.mechanism} == mechanisms
