"""Lets connections in: a few in each turn of the loop, and each as no more than a socket until something is said.

asyncio's servers accept as many in one turn as may wait to be accepted, and make a task, a transport and its buffers
for each. Hundreds that come at once and say nothing would hold up all who have something to say.
"""

import asyncio
import errno
import socket
from collections.abc import Callable, Sequence

import structlog

from exporter.web.listen import BACKLOG

_A_TURN = 32
"""Connections that are accepted before others have their turn; together they take a millisecond or two."""

_PAUSE = 1.0  # seconds, as in asyncio's servers
_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

_log = structlog.get_logger()


class Arrivals:
    """Accepts connections until it is closed.

    Args:
        listeners: listening sockets, which stay open.
        arrive: takes each connection's socket.
    """

    def __init__(self, listeners: Sequence[socket.socket], arrive: Callable[[socket.socket], None]) -> None:
        self._listeners = listeners
        self._arrive = arrive
        self._loop = asyncio.get_running_loop()
        self._pauses: dict[socket.socket, asyncio.TimerHandle] = {}

    def begin(self) -> None:
        """Begin to accept."""
        for each in self._listeners:
            each.setblocking(False)
            each.listen(BACKLOG)
            self._watch(each)

    def close(self) -> None:
        """Accept no more."""
        for each in self._listeners:
            self._loop.remove_reader(each)
        for pause in self._pauses.values():
            pause.cancel()

    def _watch(self, listener: socket.socket) -> None:
        self._pauses.pop(listener, None)
        self._loop.add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(_A_TURN):
            try:
                accepted, _ = listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in _OUT_OF_RESOURCES:
                    self._pause(listener, error)
                    return
                continue  # one that left before it was let in: accept(2) hands its errors on
            accepted.setblocking(False)
            self._arrive(accepted)

    def _pause(self, listener: socket.socket, error: OSError) -> None:
        """Try again later; the system would tell in every turn that somebody waits."""
        _log.warning("connections have to wait", why=error.strerror, seconds=_PAUSE)
        self._loop.remove_reader(listener)
        self._pauses[listener] = self._loop.call_later(_PAUSE, self._watch, listener)


class Silence:
    """A connection of which nothing has come yet: a socket, and who wants to know when that changes.

    Args:
        broken: is called when bytes have come, with the socket, which is theirs from then on.
        left: is called when the client has gone.
    """

    def __init__(self, line: socket.socket, broken: Callable[[socket.socket], None], left: Callable[[], None]) -> None:
        self._line = line
        self._broken = broken
        self._left = left
        self._loop = asyncio.get_running_loop()
        self._number = line.fileno()  # the loop spells out the socket that it is asked for, and does not yet know
        self._loop.add_reader(self._number, self._look)

    def end(self) -> None:
        """Close the socket."""
        self._loop.remove_reader(self._number)
        self._line.close()

    def _look(self) -> None:
        try:
            begun = self._line.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            begun = b""
        if not begun:
            self._left()
            return
        self._loop.remove_reader(self._number)
        self._broken(self._line)
