"""Two names, each a target: do sessions of one resume at the other?"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from exporter.model.target import Address, Target, TlsSettings, TlsVersion
from exporter.model.verdicts import OfferOutcome, RoundResult, TargetState
from tests.fleets.watch import Watch, site, states, watching
from tests.fleets.watch import both as both_versions
from tests.servers import fleet, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.process import Server, find_program
from tests.servers.ticket_keys import write_ticket_key

BLOG = "blog.test"

ROUTER = """\
defaults
    mode tcp
    timeout client 10s
    timeout server 10s
    timeout connect 10s
frontend names
    bind {at}
    tcp-request inspect-delay 5s
    tcp-request content accept if {{ req.ssl_hello_type 1 }}
    use_backend blog if {{ req.ssl_sni -i blog.test }}
    default_backend site
backend site
    server site {site}
backend blog
    server blog {blog}
"""


@pytest.fixture(scope="module")
def leaf_of_both(authority: Authority) -> Leaf:
    """A certificate for both names."""
    return authority.issue("both", now=datetime.now(UTC), names=("site.test", BLOG))


@contextmanager
def routed(folder: Path, addresses: tuple[Address, ...], settings: tuple[Settings, Settings]) -> Iterator[Address]:
    """Run two nginx behind one address, where the name in the ClientHello tells which of them is meant."""
    *homes, at = addresses
    with ExitStack() as stack:
        stack.enter_context(fleet.start(nginx.start, folder, homes, settings))
        file = folder / "router.cfg"
        file.write_text(ROUTER.format(at=at, site=homes[0], blog=homes[1]))
        router = Server(at, (find_program("haproxy"), "-db", "-f", str(file)), folder)
        stack.callback(router.stop)
        yield at


async def probe_both(at: tuple[Address, ...], authority: Authority, rounds: int = 1) -> list[RoundResult]:
    """Probe the blog, then as often the site, to which the blog's sessions are offered."""
    target = replace(site(at, authority), share_with=("blog",))
    blog = replace(target, name="blog", server_name=BLOG, share_with=())
    return await probe_pair(target, blog, rounds)


async def probe_pair(target: Target, blog: Target, rounds: int) -> list[RoundResult]:
    """Do the same with targets of one's own making."""
    async with watching(target) as watch:
        other = Watch(blog, watch.prober)
        await other.round()
        return [await watch.round(others={"blog": other.memory}) for _ in range(rounds)]


def outcomes(result: RoundResult) -> list[tuple[str, TlsVersion, OfferOutcome]]:
    """Return what was offered in a round: whose session, of which version, and how it ended."""
    return [(offer.issuer_target, offer.version, offer.outcome) for offer in result.foreign]


def both(outcome: OfferOutcome) -> list[tuple[str, TlsVersion, OfferOutcome]]:
    """Return the same outcome for one session of each version."""
    return [("blog", version, outcome) for version in TlsVersion]


@pytest.mark.servers("nginx")
async def test_one_server(tmp_path: Path, ports: Ports, leaf_of_both: Leaf, authority: Authority) -> None:
    """One nginx with one key answers for both names, so a session of one is a session of the other."""
    settings = Settings(leaf=leaf_of_both, ticket_keys=(write_ticket_key(tmp_path, "one"),))
    with fleet.start(nginx.start, tmp_path, fleet.addresses(ports.claim(), 1), [settings]) as (server,):
        (result,) = await probe_both((server.address,), authority)

    assert both(OfferOutcome.ACCEPTED) == outcomes(result)


@pytest.mark.servers("nginx", "haproxy")
@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param(("one", "one"), OfferOutcome.ACCEPTED, id="one key"),
        pytest.param(("one", "two"), OfferOutcome.REFUSED, id="two keys"),
    ],
)
async def test_routed_by_name(
    labels: tuple[str, str],
    expected: OfferOutcome,
    tmp_path: Path,
    ports: Ports,
    leaf_of_both: Leaf,
    authority: Authority,
) -> None:
    """Behind one address that routes by name, the key decides: each name is asked for by its own name."""
    one, two = (Settings(leaf=leaf_of_both, ticket_keys=(write_ticket_key(tmp_path, label),)) for label in labels)
    with routed(tmp_path, fleet.addresses(ports.claim(), 3), (one, two)) as at:
        (result,) = await probe_both((at,), authority)

    assert both(expected) == outcomes(result)


@pytest.mark.servers("nginx")
async def test_backends_take_turns(tmp_path: Path, ports: Ports, leaf_of_both: Leaf, authority: Authority) -> None:
    """Each round offers to one backend, the next round to the next."""
    settings = Settings(leaf=leaf_of_both, ticket_keys=(write_ticket_key(tmp_path, "one"),))
    with fleet.start(nginx.start, tmp_path, fleet.addresses(ports.claim(), 2), [settings] * 2) as servers:
        addresses = tuple(server.address for server in servers)
        results = await probe_both(addresses, authority, rounds=3)

    assert [addresses[0], addresses[1], addresses[0]] == [result.foreign[0].backend for result in results]
    assert [both(OfferOutcome.ACCEPTED)] * 3 == [outcomes(result) for result in results]


@pytest.mark.servers("nginx")
async def test_certificate_that_does_not_verify(
    tmp_path: Path, ports: Ports, leaf: Leaf, leaf_of_both: Leaf, authority: Authority
) -> None:
    """A refusal is one also where the full handshake after it fails by the certificate."""
    wrong = authority.issue("wrong", now=datetime.now(UTC), names=("other.test",), hosts=())
    settings = [
        Settings(leaf=used, ticket_keys=(write_ticket_key(tmp_path, label),))
        for used, label in ((wrong, "one"), (leaf_of_both, "two"))
    ]
    with fleet.start(nginx.start, tmp_path, fleet.addresses(ports.claim(), 2), settings) as (here, there):
        target = replace(site([here.address], authority), share_with=("blog",))
        blog = replace(site([there.address], authority), name="blog", server_name=BLOG)
        (result,) = await probe_pair(target, blog, 1)

    assert both(OfferOutcome.REFUSED) == outcomes(result)


@pytest.mark.servers("nginx")
async def test_other_settings(tmp_path: Path, ports: Ports, leaf_of_both: Leaf, authority: Authority) -> None:
    """Sessions of a target with other TLS settings cannot be offered, so they are not."""
    settings = Settings(leaf=leaf_of_both, ticket_keys=(write_ticket_key(tmp_path, "one"),))
    with fleet.start(nginx.start, tmp_path, fleet.addresses(ports.claim(), 1), [settings]) as (server,):
        target = replace(site([server.address], authority), share_with=("blog",))
        tls = TlsSettings(ca_file=target.tls.ca_file, alpn=())
        blog = replace(target, name="blog", server_name=BLOG, tls=tls)
        (result,) = await probe_pair(target, blog, 1)

    assert () == result.foreign


@pytest.mark.servers("nginx", "haproxy")
async def test_not_asked(tmp_path: Path, ports: Ports, leaf_of_both: Leaf, authority: Authority) -> None:
    """Names with keys of their own behind one address are each consistent, since nobody asked to compare them."""
    one, two = (Settings(leaf=leaf_of_both, ticket_keys=(write_ticket_key(tmp_path, label),)) for label in "ab")
    with routed(tmp_path, fleet.addresses(ports.claim(), 3), (one, two)) as at:
        async with watching(site((at,), authority)) as watch:
            other = Watch(replace(watch.target, name="blog", server_name=BLOG), watch.prober)
            pairs = [(await watch.round(), await other.round()) for _ in range(6)]

    for pair in pairs:
        for result in pair:
            assert both_versions(TargetState.CONSISTENT) == states(result)
            assert [(), ()] == [verdict.events for verdict in result.verdicts.values()]
            assert () == result.foreign
