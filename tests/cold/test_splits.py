"""A ClientHello in two parts, sent to real servers: all but one take it."""

from functools import partial
from pathlib import Path

import pytest

from exporter.model.connections import HelloSplit
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, TlsSettings, TlsVersion
from exporter.wire.context import Contexts
from exporter.wire.tls import TlsClient
from tests.cold.talk import shake
from tests.servers import lighttpd
from tests.servers.certificates import SERVER_NAME, Authority, Leaf
from tests.servers.lighttpd import Library
from tests.servers.ports import Ports
from tests.servers.test_servers import PLAIN_PARAMS, Settings, Start

_OTHER_LIBRARIES = [
    pytest.param(
        lighttpd.start,
        partial(lighttpd.Settings, library=library),
        id=f"lighttpd, {library.name}",
        marks=pytest.mark.servers(library.file),
    )
    for library in (Library.NSS, Library.WOLFSSL)
]


@pytest.mark.parametrize(("start", "settings"), [*PLAIN_PARAMS, *_OTHER_LIBRARIES])
def test_servers_take_it(
    start: Start,
    settings: Settings,
    tmp_path: Path,
    ports: Ports,
    contexts: Contexts,
    authority: Authority,
    leaf: Leaf,
) -> None:
    """Two segments and two records are as good as one of either, in both versions."""
    address = Address("127.0.0.2", ports.claim())
    trusting = TlsSettings(ca_file=str(authority.file))
    with start(tmp_path, address, settings(leaf=leaf)):
        failures = {
            (version, how): _failure(contexts, trusting, version, address, how)
            for version in TlsVersion
            for how in HelloSplit
        }

    assert failures == dict.fromkeys(failures)


@pytest.mark.servers(Library.MBEDTLS.file)
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        pytest.param(None, None, id="whole"),
        pytest.param(HelloSplit.SEGMENTS, None, id="segments"),
        pytest.param(HelloSplit.RECORDS, Failure(Stage.HANDSHAKE, Reason.CLOSED), id="records"),
    ],
)
def test_mbedtls(
    how: HelloSplit | None,
    expected: Failure | None,
    tmp_path: Path,
    ports: Ports,
    contexts: Contexts,
    authority: Authority,
    leaf: Leaf,
) -> None:
    """Mbed TLS 2.28 hangs up on a ClientHello of two records, which it has never put together."""
    address = Address("127.0.0.2", ports.claim())
    trusting = TlsSettings(ca_file=str(authority.file))
    with lighttpd.start(tmp_path, address, lighttpd.Settings(leaf=leaf, library=Library.MBEDTLS)):
        assert _failure(contexts, trusting, TlsVersion.TLS12, address, how) == expected


def _failure(
    contexts: Contexts, settings: TlsSettings, version: TlsVersion, address: Address, how: HelloSplit | None
) -> Failure | None:
    client = TlsClient(contexts.get(settings, version, verify=True), SERVER_NAME)
    with shake(address, client, how) as talk:
        return talk.step.failure
