"""Stapled OCSP answers, made by openssl and served by nginx."""

import time
from datetime import timedelta
from pathlib import Path

import pytest

from exporter.model.connections import StapleStatus
from exporter.model.target import Address, TlsSettings, TlsVersion
from exporter.wire.staple import StapleClient, read_staple
from tests.cold.chain import Chain
from tests.cold.responder import Entry, Listed, answer, serial_of
from tests.cold.talk import shake
from tests.servers import nginx
from tests.servers.certificates import SERVER_NAME
from tests.servers.ports import Ports
from tests.servers.process import Server, find_program

VERSIONS = [pytest.param(version, id=f"TLS {version}") for version in TlsVersion]


@pytest.mark.servers("nginx", "openssl")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("entries", "later", "expected"),
    [
        pytest.param((Entry.VALID,), timedelta(), StapleStatus.GOOD, id="good"),
        pytest.param((Entry.VALID,), timedelta(hours=2), StapleStatus.EXPIRED, id="expired"),
        pytest.param((Entry.REVOKED,), timedelta(), StapleStatus.REVOKED, id="revoked"),
        pytest.param((Entry.REVOKED,), timedelta(hours=2), StapleStatus.REVOKED, id="revoked and expired"),
        pytest.param((), timedelta(), StapleStatus.UNKNOWN, id="not in the index"),
    ],
)
def test_stapled(
    tmp_path: Path,
    ports: Ports,
    chain: Chain,
    trusting: TlsSettings,
    version: TlsVersion,
    entries: tuple[Entry, ...],
    later: timedelta,
    expected: StapleStatus,
) -> None:
    """What the authority says of the leaf is told, with its times, and whether it is out of date."""
    began = int(time.time())
    file = answer(tmp_path / "authority", chain, [Listed(serial_of(chain), entry) for entry in entries])
    address = Address("127.0.0.1", ports.claim())
    settings = nginx.Settings(leaf=chain.leaf, server=f"ssl_stapling on; ssl_stapling_file {file};")
    client = StapleClient(trusting, version, SERVER_NAME)
    with nginx.start(tmp_path / "nginx", address, settings), shake(address, client) as talk:
        assert talk.step.done
    now = time.time()
    staple = read_staple(client.staple, now + later.total_seconds(), client.leaf)

    assert client.leaf == chain.ders[0]
    assert client.staple == file.read_bytes()
    assert staple.status is expected
    assert staple.this_update is not None
    assert began <= staple.this_update <= now
    assert staple.next_update == staple.this_update + 3600


@pytest.mark.servers("nginx")
@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_stapled(
    tmp_path: Path, ports: Ports, chain: Chain, trusting: TlsSettings, version: TlsVersion
) -> None:
    """A server that staples nothing is no failure."""
    address = Address("127.0.0.1", ports.claim())
    client = StapleClient(trusting, version, SERVER_NAME)
    with nginx.start(tmp_path, address, nginx.Settings(leaf=chain.leaf)), shake(address, client) as talk:
        assert talk.step.done

    assert client.staple is None
    assert read_staple(client.staple, time.time(), client.leaf).status is StapleStatus.NONE


@pytest.mark.servers("gnutls-serv")
@pytest.mark.parametrize("version", VERSIONS)
def test_nonsense_stapled(
    tmp_path: Path, ports: Ports, chain: Chain, trusting: TlsSettings, version: TlsVersion
) -> None:
    """What is no OCSP response is told as such, though the library ends the handshake for it."""
    file = tmp_path / "staple.der"
    file.write_bytes(b"no response at all")
    address = Address("127.0.0.1", ports.claim())
    command = [find_program("gnutls-serv"), "--http", "--quiet", "--port", str(address.port), "--disable-client-cert"]
    command += ["--x509certfile", str(chain.leaf.certificate_file), "--x509keyfile", str(chain.leaf.key_file)]
    command += ["--ocsp-response", str(file), "--ignore-ocsp-response-errors"]
    client = StapleClient(trusting, version, SERVER_NAME)
    with Server(address, command, tmp_path), shake(address, client) as talk:
        assert talk.step.failure is None

    assert read_staple(client.staple, time.time(), client.leaf).status is StapleStatus.UNREADABLE
