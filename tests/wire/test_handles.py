"""Sessions taken and given by OpenSSL's own means, and by the ssl module's where those cannot be had."""

import gc
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire import handles
from exporter.wire.context import Contexts
from exporter.wire.handles import Copy, Duplicate, Handle
from exporter.wire.tls import Session, TlsClient
from tests.servers.certificates import Leaf
from tests.wire.pair import Server, meet, server_context

Take = Callable[[ssl.SSLObject], Handle | None]
TAKES = [pytest.param(handles.take, Duplicate, id="OpenSSL"), pytest.param(handles.copy, Copy, id="ssl module")]


@pytest.mark.parametrize("version", TlsVersion)
@pytest.mark.parametrize(("take", "kind"), TAKES)
def test_session_resumes(
    settings: TlsSettings, leaf: Leaf, version: TlsVersion, take: Take, kind: type[Handle]
) -> None:
    """A session that was taken either way resumes, more than once, and tells the same of itself."""
    context = Contexts().get(settings, version, verify=True)
    server = server_context(leaf)
    first = meet(context, Server(server))
    handle = take(first.client._tls)
    assert isinstance(handle, kind)
    session = Session(handle, context, first.facts.tickets[0])
    second = meet(context, Server(server), session)
    third = meet(context, Server(server), session)

    assert (True, True) == (second.facts.resumed, third.facts.resumed)
    assert handle.has_ticket
    assert handle.ticket_lifetime_hint == first.facts.tickets[-1].lifetime


@pytest.mark.parametrize("version", TlsVersion)
def test_failed_connection_spoils_nothing(settings: TlsSettings, leaf: Leaf, version: TlsVersion) -> None:
    """A session survives a connection that ended amid its handshake, and one that ended without a farewell."""
    context = Contexts().get(settings, version, verify=True)
    server = server_context(leaf)
    session = meet(context, Server(server)).sessions[0]
    broken = TlsClient(context, "site.test", session)
    broken.start()
    broken.receive(b"\x15\x03\x03\x00\x02\x02\x50")
    del broken
    meet(context, Server(server), session)
    gc.collect()

    assert meet(context, Server(server), session).facts.resumed


def test_taking_leaks_nothing(settings: TlsSettings, leaf: Leaf) -> None:
    """Taking and dropping a session some thousand times leaves memory as it was; each is over 2 KiB."""
    meeting = meet(Contexts().get(settings, TlsVersion.TLS13, verify=True), Server(server_context(leaf)))

    def take_many() -> int:
        for _ in range(4000):
            handles.take(meeting.client._tls)
        return resident_bytes()

    take_many()
    before = take_many()
    assert take_many() - before < 1 << 20


def resident_bytes() -> int:
    """Return this process's resident memory."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096
