"""How a worker comes in: sockets, TLS objects and the session that is offered, all made as cheaply as can be.

A connection is closed by a reset: that leaves no TIME_WAIT on either side, and so no shortage of ports, whoever closes
first. Should ports run out all the same, as when others hold them, the next loopback address is taken for our end.
close_notify goes ahead of it where the server may keep sessions, since it drops that of a connection which ended
without. Nagle's algorithm has nothing to hold back, since each flight of ours answers one of the server's. The
certificate is not verified: that is work of the client's alone, and nothing secret is sent.
"""

import errno
import ipaddress
import socket
import ssl
import struct
from collections import deque

from exporter import __version__
from exporter.load.orders import Site
from exporter.model.target import TlsVersion
from exporter.wire.handles import Handle, take

_RESET_AT_CLOSE = struct.pack("ii", 1, 0)
_VERSIONS = {TlsVersion.TLS12: ssl.TLSVersion.TLSv1_2, TlsVersion.TLS13: ssl.TLSVersion.TLSv1_3}
_CIPHERS = "DEFAULT:!PSK:!SRP:@SECLEVEL=2"
"""The hello is that of DEFAULT to the byte: PSK and SRP, half of its list, are weighed for each and never offered."""
_STREAM = socket.SOCK_STREAM | socket.SOCK_NONBLOCK
_UNDER_WAY = frozenset({0, errno.EINPROGRESS})
_MOST_SESSIONS = 4096
_SOURCES = 64
_IP_BIND_ADDRESS_NO_PORT = 24  # linux/in.h: the port is chosen at connect(), when the other end is known


class Entrance:
    """One worker's way to a site.

    Attributes:
        request: what is sent on each connection; empty where none is.
        session: offered again and again; None offers nothing.
        single_use: that a session is good for one connection only, so that each has to bring the next one's.
        awaits_tickets: that a connection without a request is done when the first bytes came behind the handshake.
        says_goodbye: that close_notify goes ahead of a connection's end.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.request = b"" if site.path is None else make_request(site, keep=False)
        self.session: Handle | None = None
        self.single_use = False
        self.awaits_tickets = False
        self.says_goodbye = True
        self._where = (site.host, site.port)
        self._family = socket.AF_INET6 if ":" in site.host else socket.AF_INET
        self._source: str | None = None
        self._sources = _loopback_sources(site.host)
        # An address is no name that SNI could hold (RFC 6066 section 3).
        self._name = None if _is_address(site.server_name) else site.server_name.encode("idna")
        self._context = _context(site.version)
        self._fresh: deque[Handle] = deque(maxlen=_MOST_SESSIONS)

    def open(self) -> socket.SocketType:
        """Return a socket that does not block and is being connected.

        Raises:
            OSError: it cannot be.
        """
        while True:
            opened = self._prepare()
            error = opened.connect_ex(self._where)
            if error in _UNDER_WAY:
                return opened
            opened.close()
            if error != errno.EADDRNOTAVAIL or not self._sources:
                raise OSError(error, "connect")
            self._source = self._sources.popleft()

    def wrap(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *, resume: bool) -> ssl.SSLObject:
        """Return a connection's TLS, with a session to offer where that is asked for and there is one."""
        tls = self._context.wrap_bio(incoming, outgoing, server_hostname=self._name)
        if resume:
            session = self.session
            if self.single_use:
                session = self._fresh.popleft() if self._fresh else None
            if session is not None:
                session.put_into(tls)
        return tls

    def keep_session(self, tls: ssl.SSLObject) -> None:
        """Keep a connection's newest session for one that is to come, where each is good for one use only."""
        session = take(tls)
        if session is not None:
            self._fresh.append(session)

    def _prepare(self) -> socket.SocketType:
        # The class beneath `socket.socket`, which spares a visit four calls that do nothing for it.
        opened = socket.SocketType(self._family, _STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)
        if self._source is not None:
            opened.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
            opened.bind((self._source, 0))
        return opened


def make_request(site: Site, *, keep: bool) -> bytes:
    """Return a GET whose connection is to be kept, or not."""
    host = f"[{site.server_name}]" if ":" in site.server_name else site.server_name
    host = host if site.port == 443 else f"{host}:{site.port}"
    return (
        f"GET {site.path or '/'} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: tlsprobe/{__version__}\r\nAccept: */*\r\n"
        f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n"
    ).encode("ascii")


def _loopback_sources(host: str) -> deque[str]:
    """Return addresses that our end can have beside its usual one; each has all the ports of its own."""
    if ":" in host or not ipaddress.ip_address(host).is_loopback:
        return deque()
    return deque(f"127.0.1.{last}" for last in range(1, _SOURCES + 1))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _context(version: TlsVersion | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if version is not None:
        context.minimum_version = context.maximum_version = _VERSIONS[version]
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_ciphers(_CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    return context
