"""Servers that agree on HTTP/2 over TLS, and then misuse it."""

import ssl
import struct
from collections.abc import Callable

import pytest

from exporter.model.connections import End
from exporter.model.failure import Failure, Reason, Stage
from tests.hostile.listener import Peer, Script, listening
from tests.hostile.scripts import leave, over_tls, server_context
from tests.servers.certificates import Authority, Leaf
from tests.wire.talking import talk

_SETTINGS = b"\0\0\0\4\0\0\0\0\0"
_HEAD = b"\0\0\1\1\4\0\0\0\1\x88"  # :status 200, by HPACK's own table
Make = Callable[[ssl.SSLContext], Script]


def _frame(kind: int, payload: bytes = b"", flags: int = 0, stream: int = 0) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def _saying(data: bytes, ending: Script = Peer.linger) -> Make:
    """Take the client's first bytes, say this, and end."""

    def play(tls: ssl.SSLSocket, peer: Peer) -> None:
        tls.recv(65536)
        tls.sendall(data)
        ending(peer)

    return lambda context: over_tls(context, play)


def _endlessly(head: bytes, piece: bytes) -> Make:
    """Take the client's first bytes, and talk until the client has had enough."""

    def play(tls: ssl.SSLSocket, peer: Peer) -> None:
        tls.recv(65536)
        tls.sendall(head)
        while not peer.over.is_set():
            tls.sendall(piece * 50)

    return lambda context: over_tls(context, play)


@pytest.fixture(scope="session")
def context(leaf: Leaf) -> ssl.SSLContext:
    """A good certificate, and HTTP/2 agreed on."""
    context = server_context(leaf)
    context.set_alpn_protocols(["h2"])
    return context


BAD = [
    pytest.param(_saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Reason.NOT_HTTP, id="HTTP/1.1"),
    pytest.param(_saying(b"", leave), Reason.CLOSED, id="closed before a word"),
    pytest.param(_saying(_SETTINGS, leave), Reason.CLOSED, id="closed behind its settings"),
    pytest.param(_saying(_SETTINGS + _HEAD, leave), Reason.CLOSED, id="closed in the answer"),
    pytest.param(_saying(_SETTINGS + _frame(3, b"\0\0\0\7", 0, 1)), Reason.REJECTED, id="refused stream"),
    pytest.param(_saying(_SETTINGS + _frame(7, bytes(7) + b"\x0b")), Reason.REJECTED, id="told to go"),
    pytest.param(_saying(_SETTINGS + _frame(5, b"\0\0\0\2\x82", 4, 1)), Reason.MALFORMED, id="push"),
    pytest.param(_saying(_SETTINGS + _frame(0, b"?", 1, 9)), Reason.UNASKED, id="content for nobody"),
    pytest.param(_endlessly(b"", _SETTINGS), Reason.FLOODED, id="settings flood"),
    pytest.param(_endlessly(_SETTINGS, _frame(6, bytes(8))), Reason.FLOODED, id="ping flood"),
    pytest.param(_endlessly(_SETTINGS, _frame(3, bytes(4), 0, 3)), Reason.FLOODED, id="reset flood"),
    pytest.param(
        _endlessly(_SETTINGS + _frame(1, b"\x88", 0, 1), _frame(9, b"", 0, 1)),
        Reason.FLOODED,
        id="endless CONTINUATION",
    ),
    pytest.param(
        _endlessly(_SETTINGS + _frame(1, b"\x88", 0, 1), _frame(9, bytes(9000), 0, 1)),
        Reason.TOO_LARGE,
        id="endless head",
    ),
    pytest.param(_endlessly(_SETTINGS + _HEAD, _frame(0, b"x", 0, 1)), Reason.TOO_LARGE, id="crumbs of content"),
    pytest.param(_endlessly(_SETTINGS + _HEAD, _frame(0, bytes(9000), 0, 1)), Reason.TOO_LARGE, id="endless content"),
]


@pytest.mark.parametrize(("make", "reason"), BAD)
async def test_bad_answer(make: Make, reason: Reason, context: ssl.SSLContext, authority: Authority) -> None:
    """Each is told by its reason, long before any deadline."""
    with listening(make(context)) as address:
        (told,) = await talk(address, authority.file, "h2", requests=1)

    assert told.failure is not None
    assert (told.failure.stage, told.failure.reason) == (Stage.HTTP, reason)
    assert told.end in {End.ERROR, End.IN_FLIGHT, End.GOAWAY}


async def test_no_window(context: ssl.SSLContext, authority: Authority) -> None:
    """A server that gives us no room to send takes nothing from a request that has no content."""
    closed = _frame(4, struct.pack(">HI", 4, 0))
    with listening(_saying(closed + _HEAD + _frame(0, b"ok", 1, 1))(context)) as address:
        (told,) = await talk(address, authority.file, "h2", requests=1)

    assert (told.failure, told.status, told.body_bytes) == (None, 200, 2)


async def test_close_behind_an_answer(context: ssl.SSLContext, authority: Authority) -> None:
    """The next request finds the connection closed, with no byte of an answer."""
    with listening(_saying(_SETTINGS + _HEAD + _frame(0, b"ok", 1, 1), leave)(context)) as address:
        first, second = await talk(address, authority.file, "h2", requests=2)

    assert (first.done, first.end) == (True, None)
    assert (second.failure, second.end) == (Failure(Stage.HTTP, Reason.CLOSED), End.IN_FLIGHT)
