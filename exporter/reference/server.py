"""One listening socket of the reference and the threads that serve it."""

import contextlib
import socket
import ssl
import threading
import time

from exporter.reference.answers import Answer, answer, refuse_head
from exporter.reference.deadlines import Deadlines
from exporter.reference.usage import Usage

HANDSHAKE_SECONDS = 5.0
REQUEST_SECONDS = 5.0
IDLE_SECONDS = 60.0
PARTING_SECONDS = 1.0
HEAD_BYTES = 8192
MOST_THREADS = 24
_SPARE_THREADS = 2
_FILLER = bytes(256 * 1024)
"""Sent over and over: enough for one call that Python has no part in what it costs."""


class Server:
    """Serves HTTP/1.1, over TLS where it has a context.

    Every thread accepts a connection and stays with it to its end. When the last waiting thread gets one, another is
    started, so nothing is handed from thread to thread and a silent client holds up nobody. With MOST_THREADS busy,
    further clients wait in the kernel's queue until a deadline frees a thread.

    Attributes:
        usage: what its threads have used.
    """

    def __init__(self, listening: socket.socket, context: ssl.SSLContext | None, deadlines: Deadlines) -> None:
        self._listening = listening
        self._context = context
        self._deadlines = deadlines
        self._threads = 0
        self._waiting = 0
        self._count = threading.Lock()
        self.usage = Usage()

    def start(self) -> None:
        """Begin to accept; the threads end with the process."""
        with self._count:
            self._hire()

    def _hire(self) -> None:
        self._threads += 1
        self._waiting += 1
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        self.usage.join()
        while True:
            connection = self._accept()
            with self._count:
                self._waiting -= 1
                if not self._waiting and self._threads < MOST_THREADS:
                    self._hire()
            with contextlib.suppress(OSError):  # a peer may go at any point: no news to anybody
                self._serve(connection)
            self.usage.finish()
            if self._is_spare():
                self.usage.leave()
                return

    def _is_spare(self) -> bool:
        """Decide whether the calling thread ends; if it does not, it waits for the next connection."""
        with self._count:
            if self._waiting >= _SPARE_THREADS:
                self._threads -= 1
                return True
            self._waiting += 1
            return False

    def _accept(self) -> socket.socket:
        while True:
            try:
                return self._listening.accept()[0]
            except OSError:  # out of descriptors, or the client is gone already; try again, but not in a tight loop
                time.sleep(0.01)

    def _serve(self, raw: socket.socket) -> None:
        connection = raw
        try:
            if self._context:
                connection = self._context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
                self._deadlines.put(connection, HANDSHAKE_SECONDS)
                connection.do_handshake()
            self._converse(connection)
        finally:
            self._deadlines.close(connection)

    def _converse(self, connection: socket.socket) -> None:
        """Answer request after request until the client goes, its time is up or an answer ends the connection."""
        received = b""
        allowed = REQUEST_SECONDS
        while True:
            self._deadlines.put(connection, allowed)
            while (end := received.find(b"\r\n\r\n")) < 0 and len(received) < HEAD_BYTES:
                data = connection.recv(HEAD_BYTES)
                if not data:
                    return
                if not received:
                    self._deadlines.put(connection, REQUEST_SECONDS)
                received += data
            reply = refuse_head() if end < 0 else answer(received[:end])
            self._send(connection, reply)
            if not reply.keep:
                self._part(connection)
                return
            received = received[end + 4 :]
            allowed = REQUEST_SECONDS if received else IDLE_SECONDS

    def _send(self, connection: socket.socket, reply: Answer) -> None:
        connection.sendall(reply.data)
        rest = reply.filler
        while rest:
            self._deadlines.put(connection, REQUEST_SECONDS)
            piece = min(rest, len(_FILLER))
            connection.sendall(_FILLER if piece == len(_FILLER) else _FILLER[:piece])
            rest -= piece

    def _part(self, connection: socket.socket) -> None:
        """Say that nothing more comes and read to the client's end, since closing with bytes unread resets."""
        self._deadlines.put(connection, PARTING_SECONDS)
        if isinstance(connection, ssl.SSLSocket):
            connection.unwrap()
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(HEAD_BYTES):
            pass
