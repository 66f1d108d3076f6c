"""One listening socket of the reference and the threads that serve it."""

import socket
import ssl
import threading
import time

from exporter.reference.answers import answer, refuse_head
from exporter.reference.deadlines import Deadlines
from exporter.reference.line import Line, shake
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
            self._serve(connection)
            with self._count:
                self.usage.finished += 1
                if self._waiting >= _SPARE_THREADS:
                    self._threads -= 1
                    break
                self._waiting += 1
        self.usage.leave()

    def _accept(self) -> socket.socket:
        while True:
            try:
                return self._listening.accept()[0]
            except OSError:  # out of descriptors, or the client is gone already; try again, but not in a tight loop
                time.sleep(0.01)

    def _serve(self, raw: socket.socket) -> None:
        try:
            self._deadlines.put(raw, HANDSHAKE_SECONDS)
            line = Line(raw.recv, raw.sendall) if self._context is None else shake(self._context, raw)
            self._converse(raw, line)
        except OSError:
            return  # a peer may go at any point: no news to anybody
        finally:
            self._deadlines.close(raw)

    def _converse(self, raw: socket.socket, line: Line) -> None:
        """Answer request after request until the client goes, its time is up or an answer ends the connection."""
        received = b""
        while True:
            while (end := received.find(b"\r\n\r\n")) < 0 and len(received) < HEAD_BYTES:
                data = line.read(HEAD_BYTES)
                if not data:
                    return
                if not received:
                    self._deadlines.put(raw, REQUEST_SECONDS)
                received += data
            reply = refuse_head() if end < 0 else answer(received[:end])
            line.write(reply.data)
            if reply.filler:
                self._fill(raw, line, reply.filler)
            if not reply.keep:
                self._part(raw, line)
                return
            received = received[end + 4 :]
            self._deadlines.put(raw, REQUEST_SECONDS if received else IDLE_SECONDS)

    def _fill(self, raw: socket.socket, line: Line, rest: int) -> None:
        while rest:
            self._deadlines.put(raw, REQUEST_SECONDS)
            piece = min(rest, len(_FILLER))
            line.write(_FILLER if piece == len(_FILLER) else _FILLER[:piece])
            rest -= piece

    def _part(self, raw: socket.socket, line: Line) -> None:
        """Say that nothing more comes and read to the client's end, since closing with bytes unread resets."""
        self._deadlines.put(raw, PARTING_SECONDS)
        line.farewell()
        raw.shutdown(socket.SHUT_WR)
        while raw.recv(HEAD_BYTES):
            pass
