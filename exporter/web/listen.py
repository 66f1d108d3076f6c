"""Listening sockets from addresses as they are written in a configuration: all of them, or none and the reason."""

import asyncio
import errno
import socket
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from exporter.config.values import UNIX
from exporter.model.target import Address

BACKLOG = 1024
"""Connections that wait to be accepted. A crowd beyond it would make the others' kernels try again after a second."""


class ListenError(Exception):
    """An address that cannot be listened on; the message names it."""


async def open_listeners(places: Sequence[str]) -> tuple[socket.socket, ...]:
    """Return a listening socket for each address that the places stand for.

    A place is `HOST:PORT`, `[IPV6]:PORT`, `:PORT` for all interfaces, IPv4 and IPv6, or `unix:/PATH`, a socket file.
    Port 0 takes a free one, and a socket file is made anew where nobody listens on it any more.

    Raises:
        ListenError: one cannot be had; those opened before it are closed again.
    """
    opened: list[socket.socket] = []
    try:
        for place in places:
            try:
                if place.startswith(UNIX):
                    opened.append(await asyncio.to_thread(_socket_file, Path(place.removeprefix(UNIX))))
                    continue
                host, port = _split(place)
                opened.extend([_any_interface(port)] if not host else [])
                for family, where in await _named(host, port) if host else ():
                    opened.append(_listener(family, where))
            except (OSError, UnicodeError) as error:
                raise ListenError(f"cannot listen on {place!r}: {_words(error)}") from error
    except BaseException:
        await close_listeners(opened, socket_files(opened))
        raise
    return tuple(opened)


def socket_files(listeners: Sequence[socket.socket]) -> tuple[Path, ...]:
    """Return the files of those that have one; a socket that is closed can tell no more."""
    return tuple(Path(each.getsockname()) for each in listeners if each.family == socket.AF_UNIX)


async def close_listeners(listeners: Sequence[socket.socket], files: Sequence[Path]) -> None:
    """Close sockets, and remove these files."""
    for each in listeners:
        each.close()
    for file in files:
        await asyncio.to_thread(_remove, file)


def address_of(listener: socket.socket) -> Address | None:
    """Return where a socket listens, its port the one that it really has, or None for a socket file."""
    if listener.family == socket.AF_UNIX:
        return None
    host, port, *_ = listener.getsockname()
    return Address(host, port)


def spell(listener: socket.socket) -> str:
    """Return where a socket listens, as people write it."""
    return str(address_of(listener) or f"{UNIX}{listener.getsockname()}")


def _split(place: str) -> tuple[str, int]:
    host, colon, port = place.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or not (port.isascii() and port.isdecimal() and int(port) <= 65535) or (":" in host) is not bracketed:
        raise ListenError(f"cannot listen on {place!r}: not HOST:PORT, [IPV6]:PORT, :PORT or unix:/PATH")
    return host[1:-1] if bracketed else host, int(port)


def _any_interface(port: int) -> socket.socket:
    if not socket.has_dualstack_ipv6():
        return _listener(socket.AF_INET, ("", port))
    return _listener(socket.AF_INET6, ("::", port), only_ipv6=False)


async def _named(host: str, port: int) -> list[tuple[int, tuple[object, ...]]]:
    answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((int(family), where) for family, *_, where in answers))


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink()


def _socket_file(path: Path) -> socket.socket:
    """Return a socket at a path; one that a process has left there is taken away, any other file is not."""
    try:
        return _listener(socket.AF_UNIX, str(path))
    except OSError as error:
        if error.errno != errno.EADDRINUSE or not stat.S_ISSOCK(path.stat().st_mode):
            raise
        with socket.socket(socket.AF_UNIX) as caller:
            caller.setblocking(False)
            if caller.connect_ex(str(path)) != errno.ECONNREFUSED:
                raise
        path.unlink()
        return _listener(socket.AF_UNIX, str(path))


def _listener(family: int, where: tuple[object, ...] | str, *, only_ipv6: bool = True) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setblocking(False)
        if family != socket.AF_UNIX:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only_ipv6)
        listener.bind(where)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _words(error: OSError | UnicodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "not a host name"
