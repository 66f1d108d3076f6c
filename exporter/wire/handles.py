"""Taking a session out of a connection and putting it into another: the one module that reaches beneath `ssl`.

`SSLObject.session` writes the session out as ASN.1, peer certificate and all, and reads it back, which costs a third of
a handshake; and CPython up to 3.11, before 3.12.8 and before 3.13.1 leaks that copy at each read (python/cpython issue
116810), which in a process that takes sessions for months is all of its memory. OpenSSL's own SSL_SESSION_dup shares
the certificate and leaks nothing. It is called on the connection that the `_ssl` object holds, after that object's
layout was found to be as known; where it is not, the slow way is taken.
"""

import _ssl  # the extension module knows which libssl it was linked with
import ctypes
import ssl
import sys
from functools import cache
from typing import Protocol, cast


class Handle(Protocol):
    """A session as the library keeps it."""

    @property
    def id(self) -> bytes:
        """The session id; in TLS 1.3 one of the client's own making."""
        ...

    @property
    def has_ticket(self) -> bool:
        """Whether there is a ticket to offer."""
        ...

    @property
    def ticket_lifetime_hint(self) -> int:
        """Seconds."""
        ...

    def put_into(self, tls: ssl.SSLObject) -> None:
        """Have a connection offer the session; its handshake must not have begun.

        Raises:
            ValueError: the library does not take it.
        """
        ...


class Copy:
    """A session copied by the ssl module, which binds it to its context."""

    __slots__ = ("_session",)

    def __init__(self, session: ssl.SSLSession) -> None:
        self._session = session

    @property
    def id(self) -> bytes:
        """The session id."""
        return self._session.id

    @property
    def has_ticket(self) -> bool:
        """Whether there is a ticket to offer."""
        return self._session.has_ticket

    @property
    def ticket_lifetime_hint(self) -> int:
        """Seconds."""
        return self._session.ticket_lifetime_hint

    def put_into(self, tls: ssl.SSLObject) -> None:
        """Have a connection offer the session."""
        tls.session = self._session


class Duplicate:
    """A session duplicated by OpenSSL, freed with this object."""

    __slots__ = ("_library", "_session")

    def __init__(self, library: "_Library", session: int) -> None:
        self._library = library
        self._session = session

    def __del__(self) -> None:
        self._library.free(self._session)

    @property
    def id(self) -> bytes:
        """The session id."""
        length = ctypes.c_uint()
        start = self._library.get_id(self._session, ctypes.byref(length))
        return ctypes.string_at(start, length.value)

    @property
    def has_ticket(self) -> bool:
        """Whether there is a ticket to offer."""
        return bool(self._library.has_ticket(self._session))

    @property
    def ticket_lifetime_hint(self) -> int:
        """Seconds."""
        return int(self._library.lifetime_hint(self._session))

    def put_into(self, tls: ssl.SSLObject) -> None:
        """Have a connection offer a duplicate, since a failed connection spoils the session that it was given."""
        connection = _connection_of(tls)
        session = self._library.duplicate(self._session)
        if connection is None or not session:
            raise ValueError("the session cannot be put into this connection")
        taken = self._library.set_session(connection, session)
        self._library.free(session)
        if taken != 1:
            raise ValueError("OpenSSL does not take the session")


def take(tls: ssl.SSLObject) -> Handle | None:
    """Return the newest session of a connection; None where there is none, or it is too large to be copied."""
    library = _library()
    connection = _connection_of(tls) if library is not None else None
    if library is None or connection is None:
        return copy(tls)
    session = library.get0_session(connection)
    duplicate = library.duplicate(session) if session else None
    return Duplicate(library, duplicate) if duplicate else None


def copy(tls: ssl.SSLObject) -> Handle | None:
    """Do the same by the ssl module's own means."""
    try:
        session = tls.session
    except ValueError:
        return None  # with a ticket of nearly 64 KiB it is too large to be written out
    return None if session is None else Copy(session)


class _Library:
    """The functions of libssl that are needed (openssl.org, SSL_get0_session(3) and its neighbours).

    Raises:
        AttributeError: one of them is not to be had.
    """

    def __init__(self, libssl: ctypes.CDLL) -> None:
        pointer, number = ctypes.c_void_p, ctypes.c_int
        self.get0_session = _typed(libssl.SSL_get_session, pointer, pointer)
        self.set_session = _typed(libssl.SSL_set_session, number, pointer, pointer)
        self.duplicate = _typed(libssl.SSL_SESSION_dup, pointer, pointer)
        self.free = _typed(libssl.SSL_SESSION_free, None, pointer)
        self.get_id = _typed(libssl.SSL_SESSION_get_id, pointer, pointer, ctypes.POINTER(ctypes.c_uint))
        self.has_ticket = _typed(libssl.SSL_SESSION_has_ticket, number, pointer)
        self.lifetime_hint = _typed(libssl.SSL_SESSION_get_ticket_lifetime_hint, ctypes.c_ulong, pointer)


def _typed(function: "ctypes._NamedFuncPointer", result: type | None, *arguments: type) -> "ctypes._NamedFuncPointer":
    function.restype = result
    function.argtypes = list(arguments)
    return function


@cache
def _library() -> _Library | None:
    if sys.implementation.name != "cpython":
        return None
    try:
        return _Library(ctypes.CDLL(getattr(_ssl, "__file__", None)))
    except (OSError, AttributeError):
        return None


class _Layout(ctypes.Structure):
    """The first fields of `_ssl._SSLSocket` behind the object's head."""

    _fields_ = (("socket", ctypes.c_void_p), ("connection", ctypes.c_void_p), ("context", ctypes.c_void_p))


_HEAD_BYTES = object.__basicsize__
_LEAST_SIZE = _HEAD_BYTES + ctypes.sizeof(_Layout)


def _connection_of(tls: ssl.SSLObject) -> int | None:
    """Return the address of OpenSSL's connection; None unless the fields around it are what they must be."""
    held = tls._sslobj  # type: ignore[attr-defined]
    if type(held).__basicsize__ < _LEAST_SIZE:
        return None
    layout = _Layout.from_address(id(held) + _HEAD_BYTES)
    if layout.socket is not None or layout.context != id(held.context):
        return None
    return cast("int | None", layout.connection)
