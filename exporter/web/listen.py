"""Listening sockets from addresses as they are written in a configuration: all of them, or none and the reason."""

import asyncio
import socket
from collections.abc import Sequence

from exporter.model.target import Address

_BACKLOG = 128


class ListenError(Exception):
    """An address that cannot be listened on; the message names it."""


async def open_listeners(places: Sequence[str]) -> tuple[socket.socket, ...]:
    """Return a listening socket for each address that the places stand for.

    A place is `HOST:PORT`, `[IPV6]:PORT` or `:PORT` for all interfaces, IPv4 and IPv6; port 0 takes a free one.

    Raises:
        ListenError: one cannot be had; those opened before it are closed again.
    """
    opened: list[socket.socket] = []
    try:
        for place in places:
            host, port = _split(place)
            try:
                opened.extend([_any_interface(port)] if not host else [])
                for family, where in await _named(host, port) if host else ():
                    opened.append(_listener(family, where))
            except (OSError, UnicodeError) as error:
                raise ListenError(f"cannot listen on {place!r}: {_words(error)}") from error
    except BaseException:
        for each in opened:
            each.close()
        raise
    return tuple(opened)


def address_of(listener: socket.socket) -> Address:
    """Return where a socket listens, its port the one that it really has."""
    host, port, *_ = listener.getsockname()
    return Address(host, port)


def _split(place: str) -> tuple[str, int]:
    host, colon, port = place.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not (port.isascii() and port.isdecimal() and int(port) <= 65535) or (":" in host) is not bracketed:
        raise ListenError(f"cannot listen on {place!r}: not HOST:PORT, [IPV6]:PORT or :PORT")
    return host[1:-1] if bracketed else host, int(port)


def _any_interface(port: int) -> socket.socket:
    if not socket.has_dualstack_ipv6():
        return _listener(socket.AF_INET, ("", port))
    return _listener(socket.AF_INET6, ("::", port), only_ipv6=False)


async def _named(host: str, port: int) -> list[tuple[int, tuple[object, ...]]]:
    answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((int(family), where) for family, *_, where in answers))


def _listener(family: int, where: tuple[object, ...], *, only_ipv6: bool = True) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setblocking(False)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only_ipv6)
        listener.bind(where)
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _words(error: OSError | UnicodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "not a host name"
