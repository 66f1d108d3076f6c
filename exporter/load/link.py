"""A socket with TLS on it that does not block and does as little as can be done."""

import ssl

from exporter.load.entrance import Entrance
from exporter.model.failure import Failure, Stage
from exporter.probe.errors import explain_connect, explain_stream
from exporter.wire.errors import library_failure

READ_BYTES = 16_384
"""A TLS record's content; more would come with the next turn, and memory for it is taken at each read."""


class Link:
    """One connection, whose hello goes out at once where the connection stands at once, as on loopback.

    Raises:
        OSError: it could not begin.

    Attributes:
        greeted: whether the hello went out; until then it is to be waited for that the socket can be written to.
    """

    __slots__ = ("_entrance", "_hello", "_incoming", "_outgoing", "_socket", "_start", "fd", "greeted", "tls")

    def __init__(self, entrance: Entrance, *, resume: bool) -> None:
        self._entrance = entrance
        self._socket = entrance.open()
        self.fd = self._socket.fileno()
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = entrance.wrap(self._incoming, self._outgoing, resume=resume)
        self._start = b""
        # Made while the connection is being made.
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self._hello = self._outgoing.read()
        self.greeted = False
        try:
            self.greet()
        except OSError:
            self._socket.close()
            raise

    def greet(self) -> None:
        """Send the hello if the connection stands.

        Raises:
            OSError: the connection has failed.
        """
        try:
            self._socket.send(self._hello)
        except BlockingIOError:
            return
        self.greeted = True

    def receive(self) -> bool:
        """Take the bytes that came; false where the server has closed.

        Raises:
            OSError: the connection broke, or (BlockingIOError) no bytes came.
        """
        data = self._socket.recv(READ_BYTES)
        if not data:
            return False
        if not self._start:
            self._start = data[:5]
        self._incoming.write(data)
        return True

    def shake(self) -> bool:
        """Take the handshake on by what was received; tell whether it is done, our last flight yet unsent.

        Raises:
            OSError: (ssl.SSLError among them) it failed.
        """
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            self.send()
            return False
        return True

    def read(self) -> bytes | None:
        """Return what the server said; None where that is nothing yet, b"" where it has said goodbye.

        Raises:
            OSError: (ssl.SSLError among them) the connection broke.
        """
        try:
            return self.tls.read(READ_BYTES)
        except ssl.SSLWantReadError:
            return None

    def send(self) -> None:
        """Send what the library has for the server; it always fits into the socket's buffer.

        Raises:
            OSError: the connection broke.
        """
        if self._outgoing.pending:
            self._socket.send(self._outgoing.read())

    def explain(self, error: OSError, stage: Stage) -> Failure:
        """Return the failure that an error of ours is; `stage` is how far the connection had come."""
        if isinstance(error, ssl.SSLError):
            return library_failure(error, start=self._start, alert=None)
        return explain_stream(stage, error) if self.greeted else explain_connect(error)

    @property
    def heard(self) -> bool:
        """Whether the server has said anything at all."""
        return bool(self._start)

    def close(self, *, politely: bool) -> None:
        """Reset the connection; politely, behind what is still to be sent and a goodbye if the entrance wants one."""
        if politely:
            try:
                if self._entrance.says_goodbye:
                    self._say_goodbye()
                else:
                    self.send()
            except OSError:
                pass  # it ends either way
        self._socket.close()

    def _say_goodbye(self) -> None:
        """Send close_notify; where the server's own came already, ours would tell it nothing."""
        if self._incoming.pending and self.read() == b"":
            return
        try:
            self.tls.unwrap()
        except ssl.SSLError:  # the server's is not waited for
            self.send()
