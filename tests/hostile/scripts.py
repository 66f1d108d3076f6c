"""What hostile listeners do: scripts for `listening`, from plain bytes up to whole TLS servers."""

import ssl
from collections.abc import Callable

from tests.hostile.listener import Peer, Script
from tests.servers.certificates import Leaf


def server_context(leaf: Leaf) -> ssl.SSLContext:
    """Build a stock server context that shows this leaf."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(leaf.certificate_file, leaf.key_file)
    return context


def leave(_peer: Peer) -> None:
    """Close in good order at once."""


def sending(data: bytes, ending: Script = leave) -> Script:
    """Wait for the ClientHello, answer with these bytes whatever it says, and end."""

    def play(peer: Peer) -> None:
        peer.sock.recv(65536)
        peer.sock.sendall(data)
        ending(peer)

    return play


def alerting(number: int, level: int = 2) -> Script:
    """Answer the ClientHello with an alert in clear (RFC 8446 section 6)."""
    return sending(bytes((21, 3, 3, 0, 2, level, number)), Peer.linger)


def first_flight(peer: Peer, context: ssl.SSLContext) -> bytes:
    """Give a real server's first flight for the ClientHello that comes; nothing of it is sent yet."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_side=True)
    while not outgoing.pending:
        data = peer.sock.recv(65536)
        if not data:
            raise ConnectionResetError
        incoming.write(data)
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return outgoing.read()


def half_a_server_hello(flight: bytes) -> bytes:
    """Cut a flight in the middle of its first record, which is the ServerHello."""
    return flight[: (5 + int.from_bytes(flight[3:5])) // 2]


def all_but_a_byte(flight: bytes) -> bytes:
    """Cut the last byte off a flight."""
    return flight[:-1]


def cutting(context: ssl.SSLContext, cut: Callable[[bytes], bytes], ending: Script) -> Script:
    """Send a part of a real first flight, and end."""

    def play(peer: Peer) -> None:
        peer.sock.sendall(cut(first_flight(peer, context)))
        ending(peer)

    return play


def dripping(context: ssl.SSLContext, interval: float) -> Script:
    """Send a real first flight a byte at a time, `interval` seconds apart."""

    def play(peer: Peer) -> None:
        peer.drip(first_flight(peer, context), interval)

    return play


def over_tls(context: ssl.SSLContext, script: Callable[[ssl.SSLSocket, Peer], None]) -> Script:
    """Do an ordinary handshake and hand over the connection."""

    def play(peer: Peer) -> None:
        # A duplicate, since wrapping takes the socket away from the listener, which has to end it.
        with context.wrap_socket(peer.sock.dup(), server_side=True) as tls:
            script(tls, peer)

    return play


def answering(context: ssl.SSLContext, *pieces: bytes, ending: Script = leave) -> Script:
    """Take one request over TLS, send these pieces whatever it says, and end."""

    def play(tls: ssl.SSLSocket, peer: Peer) -> None:
        tls.recv(65536)
        for piece in pieces:
            tls.sendall(piece)
        ending(peer)

    return over_tls(context, play)


def answering_endlessly(context: ssl.SSLContext, head: bytes, piece: bytes) -> Script:
    """Take one request over TLS, send `head`, and then `piece` until the client has had enough."""

    def play(tls: ssl.SSLSocket, peer: Peer) -> None:
        tls.recv(65536)
        tls.sendall(head)
        while not peer.over.is_set():
            tls.sendall(piece)

    return over_tls(context, play)
