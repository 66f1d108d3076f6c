"""Servers that speak out of turn: ahead of the first request, or behind a whole answer."""

import contextlib
import ssl
import struct
from collections.abc import Callable
from dataclasses import replace

import pytest

from exporter.model.connections import End, HttpAnswer, Reuse
from exporter.model.failure import Reason, Stage
from exporter.model.observation import Handshake
from exporter.model.target import Address, Target, TlsVersion
from exporter.probe.dial import Dialler
from exporter.probe.errand import Errand
from tests.hostile.dialling import dial
from tests.hostile.listener import Peer, Script, listening
from tests.hostile.scripts import answering, server_context
from tests.servers.certificates import Leaf

_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_SETTINGS = b"\0\0\0\4\0\0\0\0\0"
_GOAWAY = b"\0\0\x08\7\0\0\0\0\0" + bytes(8)
_NO_STREAMS = b"\0\0\6\4\0\0\0\0\0" + struct.pack(">HI", 3, 0)


class _Server:
    """One connection's TLS, whose records go out when they are told to."""

    def __init__(self, context: ssl.SSLContext, peer: Peer) -> None:
        self._peer = peer
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    def shake(self) -> None:
        """Do the handshake up to its last flight, which waits to be sent."""
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self.send()
                self.hear()
            else:
                return

    def hear(self) -> None:
        """Wait for bytes."""
        self._incoming.write(self._peer.sock.recv(65536))

    def send(self) -> None:
        """Send what waits, in one piece."""
        if self._outgoing.pending:
            self._peer.sock.sendall(self._outgoing.read())


def _at_once(context: ssl.SSLContext, words: bytes) -> Script:
    """Send words in one segment with the last flight of the handshake and its tickets, and listen."""

    def play(peer: Peer) -> None:
        server = _Server(context, peer)
        server.shake()
        server.tls.write(words)
        server.send()
        peer.linger()

    return play


def _saying_goodbye(context: ssl.SSLContext, answer: bytes) -> Script:
    """Answer one request, with close_notify in the same segment, and listen."""

    def play(peer: Peer) -> None:
        server = _Server(context, peer)
        server.shake()
        server.send()
        server.hear()
        server.tls.read(65536)
        server.tls.write(answer)
        with contextlib.suppress(ssl.SSLWantReadError):
            server.tls.unwrap()
        server.send()
        peer.linger()

    return play


async def _ask_again(target: Target, address: Address, version: TlsVersion = TlsVersion.TLS13) -> Reuse:
    """Return what came of two further requests, behind one that was answered."""
    dialler = Dialler()
    try:
        dialled = await dialler.dial(target, address, version, errand=Errand(http=True, requests=3))
    finally:
        dialler.close()
    assert isinstance(dialled.outcome, Handshake)
    assert isinstance(dialled.outcome.http, HttpAnswer)
    assert dialled.outcome.reuse is not None
    return dialled.outcome.reuse


@pytest.mark.parametrize("version", TlsVersion)
@pytest.mark.parametrize(
    ("protocol", "words", "reason"),
    [
        pytest.param("h2", _SETTINGS + _GOAWAY, Reason.REJECTED, id="goodbye"),
        pytest.param("h2", _NO_STREAMS, Reason.REJECTED, id="no streams"),
        pytest.param("http/1.1", _OK, Reason.UNASKED, id="an answer"),
    ],
)
async def test_before_the_first_request(
    protocol: str, words: bytes, reason: Reason, version: TlsVersion, site: Target, leaf: Leaf
) -> None:
    """A request that may not be made any more is a failure of HTTP's, beside a handshake that went well."""
    context = server_context(leaf)
    context.set_alpn_protocols([protocol])
    target = replace(site, tls=replace(site.tls, alpn=(protocol,)))
    with listening(_at_once(context, words)) as address:
        done = await dial(target, address, version, http=True)

    assert (done.http_failure.stage, done.http_failure.reason) == (Stage.HTTP, reason)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda context: answering(context, _OK + _OK, ending=Peer.linger), id="a second answer"),
        pytest.param(lambda context: answering(context, _OK + b"?", ending=Peer.linger), id="a longer content"),
    ],
)
async def test_behind_an_answer(
    make: Callable[[ssl.SSLContext], Script], site: Target, context: ssl.SSLContext
) -> None:
    """What comes behind a whole answer ends the connection, and is told by its reason."""
    with listening(make(context)) as address:
        reuse = await _ask_again(site, address)

    assert (reuse.attempts, reuse.answers, reuse.end) == (1, (), End.ERROR)
    assert reuse.failure is not None
    assert reuse.failure.reason is Reason.UNASKED


@pytest.mark.parametrize("version", TlsVersion)
async def test_goodbye_with_an_answer(version: TlsVersion, site: Target, context: ssl.SSLContext) -> None:
    """close_notify in one segment with an answer ends the connection, though TCP stays open: nobody waits for more."""
    with listening(_saying_goodbye(context, _OK)) as address:
        reuse = await _ask_again(site, address, version)

    assert (reuse.attempts, reuse.answers, reuse.end, reuse.failure) == (1, (), End.CLOSED, None)
