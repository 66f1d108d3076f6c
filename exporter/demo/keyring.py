"""Session ticket keys that can be rotated, with nothing but the standard library.

Python's ssl cannot set ticket keys, but each SSLContext draws one of its own. So a key is a context here, and a backend
that has several looks at the ticket in a ClientHello to see which of its contexts is to answer.
"""

import socket
import ssl
import threading
from dataclasses import dataclass, field

from exporter.reference.contexts import load_chain

_NAME_BYTES = 16  # by which OpenSSL finds the key of a ticket again
_HELLO_BYTES = 16 * 1024
_HANDSHAKE, _NEW_SESSION_TICKET = 22, 4
_TICKETS = 2


@dataclass(frozen=True, slots=True)
class Key:
    """One ticket key.

    Attributes:
        context: encrypts with it, and accepts what it has encrypted.
        name: with which its tickets begin.
    """

    context: ssl.SSLContext = field(repr=False)
    name: bytes = field(repr=False)
    _wrapping: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def wrap(self, raw: socket.socket, *, tickets: bool) -> ssl.SSLSocket:
        """Begin TLS on a connection, which issues new tickets or none."""
        with self._wrapping:  # a connection takes over the number of tickets when it is made
            self.context.num_tickets = _TICKETS if tickets else 0
            return self.context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys of one backend.

    Attributes:
        issuing: encrypts new tickets.
        accepted: older or newer ones, whose tickets are accepted all the same.
    """

    issuing: Key
    accepted: tuple[Key, ...] = ()

    def shake(self, raw: socket.socket) -> ssl.SSLSocket:
        """Shake hands as the server; who returns with another accepted key's ticket gets no new one of that key.

        Raises:
            OSError: the handshake failed, or the client has gone.
        """
        hello = raw.recv(_HELLO_BYTES, socket.MSG_PEEK)
        former = next((key for key in self.accepted if key.name in hello), None)
        tls = self.issuing.wrap(raw, tickets=True) if former is None else former.wrap(raw, tickets=False)
        try:
            tls.do_handshake()
        except OSError:
            tls.close()
            raise
        return tls


def draw_key(pem: str) -> Key:
    """Make a new key, for a server with this private key and certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    load_chain(context, pem)
    return Key(context, _name_of(context))


def _name_of(context: ssl.SSLContext) -> bytes:
    """Return the name of a context's key, out of a ticket that it issues in TLS 1.2, where that goes in clear."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE  # it is the one in our hand
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking, answering = client.wrap_bio(down, up), context.wrap_bio(up, down, server_side=True)
    _advance(asking)
    _advance(answering)
    _advance(asking)
    answering.do_handshake()
    flight = down.read()
    # A record's header has 5 bytes, a message's 4; then come a lifetime of 4 and a length of 2 (RFC 5077 section 3.3).
    if flight[0] != _HANDSHAKE or flight[5] != _NEW_SESSION_TICKET:
        raise ssl.SSLError("no ticket was issued")
    return flight[15 : 15 + _NAME_BYTES]


def _advance(peer: ssl.SSLObject) -> None:
    try:
        peer.do_handshake()
    except ssl.SSLWantReadError:
        return
