"""Sizes of the records in which real servers send a large body."""

import json
import os
from pathlib import Path

import pytest

from exporter.model.connections import RecordSizes
from exporter.model.target import Address, TlsSettings, TlsVersion
from exporter.wire.context import Contexts
from exporter.wire.tls import TlsClient
from tests.cold.chain import Chain
from tests.cold.talk import fetch, shake
from tests.servers import nginx
from tests.servers.certificates import SERVER_NAME, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server, find_program

VERSIONS = [pytest.param(version, id=f"TLS {version}") for version in TlsVersion]
_BODY = bytes(range(256)) * 1600
_SMALL = 1400
"""Bytes that go into one segment of an ordinary path, with record and headers around them."""
_LARGEST = 1 << 14


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with one large file."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "large").write_bytes(_BODY)
    return folder


def _fetch_large(
    contexts: Contexts, settings: TlsSettings, version: TlsVersion, address: Address
) -> tuple[int, RecordSizes | None]:
    """Return the size of the whole answer, and of its records."""
    client = TlsClient(contexts.get(settings, version, verify=True), SERVER_NAME)
    with shake(address, client) as talk:
        answer = fetch(talk, client, "/large")
        assert answer.endswith(_BODY)
        return len(answer), client.take_records()


@pytest.mark.servers("nginx")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("directives", "size"),
    [pytest.param("", _LARGEST, id="default"), pytest.param("ssl_buffer_size 4k;", 4096, id="4k")],
)
def test_fixed_sizes(
    tmp_path: Path,
    ports: Ports,
    contexts: Contexts,
    chain: Chain,
    trusting: TlsSettings,
    site: Path,
    version: TlsVersion,
    directives: str,
    size: int,
) -> None:
    """The records of nginx are as large as its buffer, from the first one on."""
    address = Address("127.0.0.1", ports.claim())
    server = f"{directives} location = /large {{ alias {site / 'large'}; }}"
    with nginx.start(tmp_path / "nginx", address, nginx.Settings(leaf=chain.leaf, server=server)):
        total, sizes = _fetch_large(contexts, trusting, version, address)

    assert sizes == RecordSizes(first=size, largest=size, count=-(-total // size))


@pytest.mark.servers("h2o")
@pytest.mark.parametrize("version", VERSIONS)
def test_dynamic_sizes(
    tmp_path: Path,
    ports: Ports,
    contexts: Contexts,
    chain: Chain,
    trusting: TlsSettings,
    site: Path,
    version: TlsVersion,
) -> None:
    """H2O begins with records that fit into a segment and ends with full ones."""
    address = Address("127.0.0.1", ports.claim())
    with _start_h2o(tmp_path, address, chain.leaf, site):
        total, sizes = _fetch_large(contexts, trusting, version, address)
    assert sizes is not None

    assert sizes.first <= _SMALL
    assert sizes.largest == _LARGEST
    assert total / _LARGEST < sizes.count < total / _SMALL


def _start_h2o(folder: Path, address: Address, leaf: Leaf, site: Path) -> Server:
    """Run H2O as a server of files."""
    tls = {"certificate-file": str(leaf.certificate_file), "key-file": str(leaf.key_file), "neverbleed": "OFF"}
    configuration = {
        **({"user": "root"} if os.geteuid() == 0 else {}),
        "num-threads": 1,
        "listen": {"host": address.host, "port": address.port, "ssl": tls},
        "hosts": {"default": {"paths": {"/": {"file.dir": str(site)}}}},
    }
    file = folder / "h2o.json"  # JSON is YAML, too
    file.write_text(json.dumps(configuration))
    return Server(address, (find_program("h2o"), "--mode", "worker", "--conf", str(file)), folder)
