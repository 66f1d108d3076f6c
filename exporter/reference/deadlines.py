"""Until when each connection must have done its next step."""

import socket
import threading
from collections.abc import Callable


class Deadlines:
    """Ends the waits of blocking sockets from outside.

    A socket with a timeout of its own is a non-blocking one underneath: each read then costs two system calls more,
    and a peer that sends a byte now and then starts the timeout anew. Here the sockets just block, a deadline covers
    as many reads as it takes, and `sweep`, called now and then by one thread, shuts down those that are overdue.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._due: dict[socket.socket, float] = {}
        self._closing = threading.Lock()

    def __len__(self) -> int:
        return len(self._due)

    def put(self, connection: socket.socket, seconds: float) -> None:
        """Give a connection this long from now, whatever was said before."""
        self._due[connection] = self._clock() + seconds

    def close(self, connection: socket.socket) -> None:
        """Close a connection and forget it."""
        with self._closing:  # else the sweep might hit another connection that got the same descriptor
            self._due.pop(connection, None)
            connection.close()

    def sweep(self) -> None:
        """Shut down every connection that is overdue: the thread that waits for it reads its end and closes it."""
        now = self._clock()
        with self._closing:
            for connection in [late for late, due in self._due.copy().items() if due <= now]:
                try:
                    # Not SSLSocket's own method, which takes the TLS state away from the thread that uses it.
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)
                except OSError:
                    continue  # the peer was faster
