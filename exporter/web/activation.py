"""Sockets that systemd opened for us (sd_listen_fds(3))."""

import errno
import os
import socket
from collections.abc import MutableMapping

from exporter.web.listen import ListenError

_FIRST = 3
_WORDS = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


def take_sockets(environment: MutableMapping[str, str], process: int) -> tuple[socket.socket, ...]:
    """Return the sockets that were handed to a process, and strike them from its environment for its children's sake.

    Raises:
        ListenError: there are none, or one of them is no stream socket that listens.
    """
    ours, number, _ = (environment.pop(word, "") for word in _WORDS)
    if ours != str(process) or not number.isdecimal() or int(number) < 1:
        raise ListenError("cannot listen on sockets of systemd: it has handed over none")
    return tuple(map(_adopt, range(_FIRST, _FIRST + int(number))))


def _adopt(descriptor: int) -> socket.socket:
    try:
        os.set_inheritable(descriptor, False)
        listener = socket.socket(fileno=descriptor)
    except OSError as error:
        words = os.strerror(error.errno or errno.EBADF)
        raise ListenError(f"cannot listen on descriptor {descriptor} of systemd: {words}") from error
    if listener.type != socket.SOCK_STREAM or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        listener.close()
        raise ListenError(f"cannot listen on descriptor {descriptor} of systemd: it is no stream socket that listens")
    listener.setblocking(False)
    return listener
