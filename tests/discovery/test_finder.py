"""What a target stands for: SRV records from a real name server, bounds, and proxies."""

import asyncio
import socket

import dns.rcode
import pytest

from exporter.discovery.bound import choose
from exporter.discovery.dns import Resolver
from exporter.discovery.finder import Finder, open_finder
from exporter.discovery.srv import SrvRecords
from exporter.model.failure import Reason
from exporter.model.source import KubernetesService, SrvName
from exporter.model.target import Address, Endpoint, ProbeSettings, Target
from tests.discovery import nameserver
from tests.discovery.nameserver import NameServer

SRV = "_https._tcp.shop.example.com"
HOSTS = {"a.example": "10.0.0.1", "b.example": "10.0.0.2", "c.example": "10.0.0.3"}


def lookup(name: str) -> frozenset[str]:
    """Resolve the few names of these tests."""
    if name not in HOSTS:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")
    return frozenset({HOSTS[name]})


def finder(server: NameServer, *, deadline: float = 2.0, now: list[float] | None = None) -> Finder:
    """Return a finder that asks the server."""
    clock = now or [0.0]
    records = SrvRecords(deadline=deadline, resolver=server.resolver, clock=lambda: clock[0])
    return Finder(Resolver(lookup=lookup), records, None)


def target(name: str = SRV, most: int = 256) -> Target:
    """Return a target whose backends are in SRV records."""
    probe = ProbeSettings(max_backends=most)
    return Target("shop", Endpoint("shop.example.com", 443), "shop", probe=probe, backends_from=SrvName(name))


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param(["0 5 443 a.example.", "0 5 8443 b.example."], ["10.0.0.1:443", "10.0.0.2:8443"], id="ports"),
        pytest.param(["1 1 443 a.example.", "1 0 443 b.example."], ["10.0.0.1:443", "10.0.0.2:443"], id="weights"),
        pytest.param(["2 1 443 a.example.", "1 1 443 b.example."], ["10.0.0.2:443"], id="priorities"),
        pytest.param(["0 1 443 a.example.", "0 1 444 a.example."], ["10.0.0.1:443", "10.0.0.1:444"], id="two ports"),
        pytest.param(["0 1 443 10.0.0.9."], ["10.0.0.9:443"], id="an address where a name should be"),
    ],
)
async def test_records(records: list[str], expected: list[str]) -> None:
    """All records of the lowest priority are backends, at their own ports and whatever their weight."""
    async with nameserver.serve() as server:
        server.records[f"{SRV}."] = records
        found = await finder(server).resolve(target())

    assert expected == [str(each) for each in found.addresses]
    assert server.asked == [f"{SRV}."], "one query, and none for names of a search list"


async def test_the_dot() -> None:
    """A record that names nobody says that the service is not there."""
    async with nameserver.serve() as server:
        server.records[f"{SRV}."] = ["0 0 0 ."]
        found = await finder(server).resolve(target())

    assert found.failure is not None
    assert (found.addresses, found.failure.reason) == ((), Reason.NO_SUCH_NAME)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param(dns.rcode.NOERROR, Reason.NO_SUCH_NAME, id="no record"),
        pytest.param(dns.rcode.NXDOMAIN, Reason.NO_SUCH_NAME, id="no such name"),
        pytest.param(dns.rcode.SERVFAIL, Reason.NAME_SERVICE, id="a server that fails"),
        pytest.param(dns.rcode.REFUSED, Reason.NAME_SERVICE, id="a server that refuses"),
    ],
)
async def test_failures(code: dns.rcode.Rcode, reason: Reason) -> None:
    """Whatever goes wrong is a value, beside what was known until it is too old."""
    now = [0.0]
    async with nameserver.serve() as server:
        server.records[f"{SRV}."] = ["0 5 443 a.example."]
        found_by = finder(server, now=now)
        good = await found_by.resolve(target())
        server.code, server.records[f"{SRV}."] = code, []
        now[0] = 600.0
        kept = await found_by.resolve(target())
        now[0] = 600.5
        dropped = await found_by.resolve(target())

    assert (good.failure, good.addresses) == (None, (Address("10.0.0.1", 443),))
    assert [each.addresses for each in (kept, dropped)] == [good.addresses, ()]
    assert [each.failure and each.failure.reason for each in (kept, dropped)] == [reason, reason]


async def test_a_silent_name_stops_nobody() -> None:
    """A name that nobody answers for ends at its deadline, and others are answered meanwhile."""
    other = "_https._tcp.other.example.com"
    async with nameserver.serve() as server:
        server.records[f"{other}."] = ["0 5 443 a.example."]
        server.silent.add(f"{SRV}.")
        found_by = finder(server, deadline=0.5)
        order: list[str] = []

        async def find(name: str) -> Reason | None:
            found = await found_by.resolve(target(name))
            order.append(name)
            return found.failure.reason if found.failure else None

        reasons = await asyncio.gather(find(SRV), find(other))

    assert list(reasons) == [Reason.TIMEOUT, None]
    assert order == [other, SRV]


async def test_the_bound() -> None:
    """Of too many backends some are left out and counted, and the same ones are kept when others come or go."""
    many = {Endpoint(f"10.0.{number // 250}.{number % 250}", 443) for number in range(1000)}
    asked = Target("shop", Endpoint("shop", 443), "shop", backends=tuple(many), probe=ProbeSettings(max_backends=100))
    async with open_finder({}) as found_by:
        found = await found_by.resolve(asked)
    fewer = choose(many - set(sorted(many)[:100]), 100)

    assert (len(found.addresses), found.left_out) == (100, 900)
    assert set(found.addresses) == choose(many, 100)
    assert len(fewer & choose(many, 100)) >= 80
    assert choose(many, 1000) == many


async def test_the_bound_of_records() -> None:
    """Names beyond the bound are not even looked up."""
    async with nameserver.serve() as server:
        server.records[f"{SRV}."] = ["0 5 443 a.example.", "0 5 443 b.example.", "0 5 443 c.example."]
        found = await finder(server).resolve(target(most=1))

    assert (len(found.addresses), found.left_out) == (1, 2)


async def test_a_proxy_beside() -> None:
    """The proxy's name is resolved beside the backends, wherever these come from."""
    async with nameserver.serve() as server:
        server.records[f"{SRV}."] = ["0 5 443 a.example."]
        asked = Target(
            "shop", Endpoint("shop", 443), "shop", backends_from=SrvName(SRV), proxy=Endpoint("b.example", 3128)
        )
        found = await finder(server).resolve(asked)

    assert (found.addresses, found.proxy) == ((Address("10.0.0.1", 443),), Address("10.0.0.2", 3128))


async def test_no_pod() -> None:
    """Outside of Kubernetes a Service is a failure that says so."""
    asked = Target("shop", Endpoint("shop", 443), "shop", backends_from=KubernetesService("web", "https"))
    async with open_finder({}) as found_by:
        found = await found_by.resolve(asked)

    assert found.failure is not None
    assert found.failure.reason is Reason.NAME_SERVICE


async def test_a_pod_without_account() -> None:
    """In a pod without a service account's token the failure says what is missing, and closing is quick."""
    asked = Target("shop", Endpoint("shop", 443), "shop", backends_from=KubernetesService("web", "https"))
    async with asyncio.timeout(10), open_finder({"KUBERNETES_SERVICE_HOST": "127.0.0.1"}) as found_by:
        found = await found_by.resolve(asked)

    assert found.failure is not None
    assert found.failure.reason is Reason.NAME_SERVICE
    assert "no such file" in found.failure.detail
