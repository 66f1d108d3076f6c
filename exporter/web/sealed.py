"""TLS between a connection and the protocol that serves it, over bytes in memory.

asyncio's own would take 256 KiB for each client, before anything is known of it; this one takes nothing until the
first bytes have come. It is a protocol for the connection, and a transport for what serves it.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import cast

from exporter.web.contexts import bears_any
from exporter.web.lock import TlsLock

_CHUNK = 64 * 1024
_METHODS = (b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO")
_PLAIN_HTTP = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"


class Sealed(asyncio.Protocol, asyncio.Transport):
    """One client's TLS. Whoever is turned away is told why, and is then read on until he has left.

    That matters since a socket that is closed with bytes unread takes back what was sent (RFC 1122 section 4.2.2.13).
    """

    def __init__(self, serve: Callable[[], asyncio.Protocol], lock: TlsLock) -> None:
        super().__init__()
        self._serve = serve
        self._lock = lock
        self._wire: asyncio.Transport | None = None
        self._tls: ssl.SSLObject | None = None
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._first = b""
        self._backlog: deque[memoryview] = deque()
        self._served: asyncio.Protocol | None = None
        self._paused = False
        self._told_paused = False
        self._closing = False
        self._turned_away = False

    # What the connection calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a ClientHello."""
        self._wire = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Go on with the handshake, or hand on what was asked."""
        if self._turned_away or self._closing or self._wire is None:
            return
        if self._tls is None:
            self._first += data
            if len(self._first) < len(_METHODS[0]):
                return
            if self._first.startswith(_METHODS):
                self._turn_away(_PLAIN_HTTP)
                return
            self._tls = self._lock.context.wrap_bio(self._incoming, self._outgoing, server_side=True)
            data, self._first = self._first, b""
        self._incoming.write(data)
        try:
            self._advance(self._tls)
        except ssl.SSLError:  # the alert that tells of it is on its way out
            self._turn_away(b"")

    def eof_received(self) -> bool:
        """Close: TLS has a farewell of its own (RFC 8446 section 6.1), and who leaves without it wants no answer."""
        return False

    def pause_writing(self) -> None:
        """Encrypt no more until the client has caught up."""
        self._paused = True
        self._tell_pace()

    def resume_writing(self) -> None:
        """Go on with what waits, which may soon be too much again."""
        self._paused = False
        self._pump()
        self._tell_pace()

    def connection_lost(self, exc: Exception | None) -> None:
        """Hand on that it is over, to whoever was told that it had begun."""
        self._wire = None
        self._backlog.clear()
        served, self._served = self._served, None
        if served is not None:
            served.connection_lost(exc)

    # What the served protocol calls.

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return what is known of the connection; `sslcontext` is how aiohttp sees that it is secure."""
        if name == "sslcontext":
            return self._lock.context
        return default if self._wire is None else self._wire.get_extra_info(name, default)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send what has room on the wire, and keep the rest."""
        if data and not self._closing and self._wire is not None:
            self._backlog.append(memoryview(bytes(data)))
            self._pump()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        """Send several pieces."""
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        """TLS connections are not closed by halves here."""
        return False

    def get_write_buffer_size(self) -> int:
        """Return the bytes that the client has not taken yet, encrypted or not."""
        return sum(map(len, self._backlog)) + (0 if self._wire is None else self._wire.get_write_buffer_size())

    def is_closing(self) -> bool:
        """Return whether nothing more can be written."""
        return self._closing or self._wire is None or self._wire.is_closing()

    def is_reading(self) -> bool:
        """Return whether the client's bytes are taken."""
        return self._wire is not None and self._wire.is_reading()

    def pause_reading(self) -> None:
        """Take no more of the client's bytes."""
        if self._wire is not None:
            self._wire.pause_reading()

    def resume_reading(self) -> None:
        """Take them again."""
        if self._wire is not None:
            self._wire.resume_reading()

    def close(self) -> None:
        """Say farewell once all is sent, and close."""
        if not self._closing:
            self._closing = True
            self._pump()

    def abort(self) -> None:
        """Close without waiting for anything to be taken."""
        self._closing = True
        if self._wire is not None:
            self._wire.abort()

    # Between the two.

    def _advance(self, tls: ssl.SSLObject) -> None:
        """Take in all that has come.

        Raises:
            ssl.SSLError: it is no TLS, or none that is agreed on.
        """
        try:
            if self._served is None:
                tls.do_handshake()
                self._flush()
                if self._lock.allowed_sans and not bears_any(tls, self._lock.allowed_sans):
                    self._say_farewell(tls)
                    self._turn_away(b"")
                    return
                self._served = self._serve()
                self._served.connection_made(self)
            while not self._closing and (plain := tls.read(_CHUNK)):
                self._served.data_received(plain)
        except ssl.SSLWantReadError:
            self._flush()
            return
        except ssl.SSLZeroReturnError:
            pass
        self.close()  # the client has said farewell

    def _pump(self) -> None:
        """Encrypt as much as the wire takes, and end what is to end then."""
        while self._backlog and not self._paused and self._tls is not None:
            waiting = self._backlog.popleft()
            if len(waiting) > _CHUNK:
                self._backlog.appendleft(waiting[_CHUNK:])
            piece = waiting[:_CHUNK]
            while piece:
                piece = piece[self._tls.write(piece) :]
            self._flush()
        if self._closing and not self._backlog and self._wire is not None and not self._wire.is_closing():
            if self._tls is not None:
                self._say_farewell(self._tls)
            self._wire.close()

    def _tell_pace(self) -> None:
        """Tell who serves of a pause or its end, of each once."""
        if self._served is None or self._paused is self._told_paused:
            return
        self._told_paused = self._paused
        if self._paused:
            self._served.pause_writing()
        else:
            self._served.resume_writing()

    def _say_farewell(self, tls: ssl.SSLObject) -> None:
        with suppress(ssl.SSLError):  # his own farewell is not waited for
            tls.unwrap()
        self._flush()

    def _turn_away(self, words: bytes) -> None:
        self._turned_away = True
        self._flush()
        if self._served is not None or self._wire is None:
            self.abort()
            return
        if words:
            self._wire.write(words)
        self._wire.write_eof()

    def _flush(self) -> None:
        if self._outgoing.pending and self._wire is not None:
            self._wire.write(self._outgoing.read())
