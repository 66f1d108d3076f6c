"""Ticket key files that were never filled, or filled with what anyone can guess, in real servers."""

from pathlib import Path

import pytest

from exporter.model.observation import Handshake, Ticket
from exporter.model.target import TlsVersion
from exporter.model.verdicts import Danger, Weakness
from exporter.probe.dial import Dialler
from exporter.probe.errand import Errand
from exporter.verdict.weakness import weakness_of
from tests.fleets.watch import site, watching
from tests.servers import fleet, haproxy, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server
from tests.servers.ticket_keys import ticket_key

FILES = [
    pytest.param(bytes(48), Weakness.ZERO_KEY, id="48 zeros"),
    pytest.param(bytes(80), Weakness.ZERO_KEY, id="80 zeros"),
    pytest.param(ticket_key("name")[:16] + bytes(32), Weakness.ZERO_KEY, id="48 bytes, zeros behind the name"),
    pytest.param(ticket_key("name")[:48] + bytes(32), Weakness.ZERO_KEY, id="80 bytes, the cipher's key zeros"),
    pytest.param(bytes(range(48)), Weakness.GUESSABLE_KEY, id="48 counting bytes"),
    pytest.param(bytes(range(80)), Weakness.GUESSABLE_KEY, id="80 counting bytes"),
    pytest.param(bytes(16) + ticket_key("rest")[16:], Weakness.ZERO_NAME, id="zeros for a name"),
    pytest.param(ticket_key("good", 48), None, id="48 random bytes"),
    pytest.param(ticket_key("good", 80), None, id="80 random bytes"),
]


async def tickets_of(server: Server, authority: Authority, version: TlsVersion) -> tuple[Ticket, ...]:
    """Return the tickets of one full handshake."""
    dialler = Dialler()
    try:
        dialled = await dialler.dial(
            site([server.address], authority), server.address, version, errand=Errand(http=True)
        )
    finally:
        dialler.close()
    assert isinstance(dialled.outcome, Handshake)
    return dialled.outcome.tls.tickets


@pytest.mark.servers("nginx")
@pytest.mark.parametrize(("content", "expected"), FILES)
async def test_nginx(
    content: bytes, expected: Weakness | None, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority
) -> None:
    """One handshake with nginx, of either version, tells what its key file is worth."""
    file = tmp_path / "ticket.key"
    file.write_bytes(content)
    settings = nginx.Settings(leaf=leaf, ticket_keys=(file,))
    with fleet.start(nginx.start, tmp_path, fleet.addresses(ports.claim(), 1), [settings]) as (server,):
        seen = [await tickets_of(server, authority, version) for version in TlsVersion]

    assert [{expected}, {expected}] == [{weakness_of(ticket) for ticket in tickets} for tickets in seen]


@pytest.mark.servers("haproxy")
@pytest.mark.parametrize(("content", "expected"), FILES)
async def test_haproxy(
    content: bytes, expected: Weakness | None, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority
) -> None:
    """The same with HAProxy, which splits long keys the other way round."""
    settings = haproxy.Settings(leaf=leaf, ticket_keys=(content,) * 3)
    with fleet.start(haproxy.start, tmp_path, fleet.addresses(ports.claim(), 1), [settings]) as (server,):
        seen = [await tickets_of(server, authority, version) for version in TlsVersion]

    assert [{expected}, {expected}] == [{weakness_of(ticket) for ticket in tickets} for tickets in seen]


@pytest.mark.servers("nginx")
@pytest.mark.parametrize("size", [48, 80])
async def test_a_round(size: int, tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """One round over a fleet names the backend whose key file holds nothing but zeros, and no other."""
    contents = (ticket_key("good", 48), bytes(size))
    files = [tmp_path / f"{number}.key" for number in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    settings = [nginx.Settings(leaf=leaf, ticket_keys=(file,)) for file in files]
    with fleet.start(nginx.start, tmp_path, fleet.addresses(ports.claim(), 2), settings) as (good, bad):
        async with watching(site([good.address, bad.address], authority)) as watch:
            result = await watch.round()

    for verdict in result.verdicts.values():
        assert verdict.backends[good.address].weakness is None
        assert Weakness.ZERO_KEY is verdict.backends[bad.address].weakness
        assert Danger.WEAK_KEY in verdict.backends[bad.address].dangers
