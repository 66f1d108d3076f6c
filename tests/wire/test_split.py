"""A ClientHello in two parts, and whether a server's engine takes it."""

import pytest

from exporter.model.connections import HelloSplit
from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire.context import Contexts
from exporter.wire.records import join_fragments, record_end
from exporter.wire.split import split
from exporter.wire.tls import TlsClient
from tests.servers.certificates import Leaf
from tests.wire.pair import Server, server_context
from tests.wire.test_messages import client_hello, extension, record, vector

VERSIONS = [pytest.param(version, id=f"TLS {version}") for version in TlsVersion]


def _named(name: bytes) -> bytes:
    return record(22, client_hello(extension(16, b"12"), extension(0, vector(2, b"\0" + vector(2, name)))))


@pytest.mark.parametrize(
    ("flight", "before"),
    [
        pytest.param(_named(b"site.test"), b"site.", id="within the name"),
        pytest.param(_named(b"x"), b"x", id="a name too short to be cut"),
        pytest.param(record(22, client_hello()), None, id="no name"),
        pytest.param(record(22, b"no hello at all"), None, id="no hello"),
    ],
)
def test_segments(flight: bytes, before: bytes | None) -> None:
    """The parts are the flight, cut in the server name or else in the middle of the message."""
    first, second = split(flight, HelloSplit.SEGMENTS)

    assert first + second == flight
    assert first.endswith(before) if before else len(first) == 5 + (len(flight) - 5) // 2


@pytest.mark.parametrize("rest", [b"", record(20, b"\1")], ids=["alone", "with a record behind it"])
def test_records(rest: bytes) -> None:
    """One part holds two records of the same message, cut at the same place, and what else was in the flight."""
    flight = _named(b"site.test")
    (part,) = split(flight + rest, HelloSplit.RECORDS)
    end = record_end(part, 0)

    assert part[:end].endswith(b"site.")
    assert part[:3] == part[end : end + 3] == flight[:3]
    assert join_fragments(part) == join_fragments(flight + rest)
    assert len(part) == len(flight + rest) + 5


@pytest.mark.parametrize("how", HelloSplit)
@pytest.mark.parametrize(
    "flight",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(record(22, b"x"), id="too short"),
        pytest.param(record(22, b"abcdef")[:-1], id="incomplete"),
        pytest.param(record(21, b"\2\0"), id="an alert"),
    ],
)
def test_what_cannot_be_cut(flight: bytes, how: HelloSplit) -> None:
    """Something else than a whole handshake record is refused, since no server would be to blame."""
    with pytest.raises(ValueError, match="handshake record"):
        split(flight, how)


@pytest.mark.parametrize("offering", [False, True], ids=["full", "resumed"])
@pytest.mark.parametrize("how", HelloSplit)
@pytest.mark.parametrize("version", VERSIONS)
def test_server_takes_it(
    contexts: Contexts, settings: TlsSettings, leaf: Leaf, version: TlsVersion, how: HelloSplit, offering: bool
) -> None:
    """A server waits for the second part, and the handshake is the same as without the cut."""
    context, library = contexts.get(settings, version, verify=True), server_context(leaf)
    session = None
    for offered in (False, offering):
        client, server = TlsClient(context, "site.test", session if offered else None), Server(library)
        *early, last = split(client.start().send, how)
        replies = [server.receive(part) for part in early]
        step = client.receive(server.receive(last))
        while not step.done:
            assert step.failure is None
            step = client.receive(server.receive(step.send))
        client.receive(server.receive(step.send))
        session = client.sessions[0] if client.sessions else session

    assert replies == [b""] * len(early)
    assert client.facts.resumed is offering
    assert (client.facts.round_trips == 1) is (offering or version is TlsVersion.TLS13)
