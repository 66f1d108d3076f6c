"""A connection that is kept alive for requests, one after the other, beside the handshakes."""

from exporter.load.entrance import Entrance
from exporter.load.link import Link
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import HttpSettings
from exporter.wire.http import converse

_AGENT = "tlsprobe"


class Line:
    """One kept-alive connection; its handshake belongs to its first request.

    Args:
        due: when the first request is due, in seconds by the clock.

    Raises:
        OSError: it could not begin.

    Attributes:
        due: of the request that is under way; None while there is none.
        failure: why the line is of no use any more; a request that was under way has failed with it.
        ended: that the server keeps it no longer, without a fault.
    """

    def __init__(self, entrance: Entrance, due: float) -> None:
        self.due: float | None = due
        self.failure: Failure | None = None
        self.ended = False
        site = entrance.site
        settings = HttpSettings(path=site.path or "/")
        self._conversation = converse("http/1.1", settings, site.server_name, site.port, user_agent=_AGENT)
        self._shaken = False
        self.link = Link(entrance, resume=False)

    def ask(self, due: float) -> None:
        """Send another request, the one before it having been answered."""
        self.due = due
        try:
            self._send_request()
        except OSError as error:
            self.failure = self.link.explain(error, self._stage)

    def advance(self) -> bool:
        """Go on, as the socket is ready for it; tell whether the request under way is answered now."""
        try:
            return self._advance()
        except BlockingIOError:
            return False
        except OSError as error:
            self.failure = self.link.explain(error, self._stage)
            return False

    def expire(self) -> None:
        """Fail, as the request's time is up."""
        self.failure = Failure(self._stage, Reason.TIMEOUT)

    @property
    def _stage(self) -> Stage:
        return Stage.HTTP if self._shaken else Stage.HANDSHAKE

    def _advance(self) -> bool:
        link = self.link
        if not link.greeted:
            link.greet()
            return False
        if not link.receive():
            return self._end()
        if not self._shaken:
            self._shaken = link.shake()
            if not self._shaken:
                return False
            self._send_request()
        return self._read()

    def _send_request(self) -> None:
        self.link.tls.write(self._conversation.ask())
        self.link.send()

    def _read(self) -> bool:
        while (data := self.link.read()) is not None:
            if not data:
                return self._end()
            progress = self._conversation.receive(data)
            if progress.failure is not None:
                self.failure = progress.failure
                return False
            if progress.done:
                self.ended = not progress.keep_alive
                return True
        return False

    def _end(self) -> bool:
        """Take the server's end: an idle line may be closed at any time, and some answers end so."""
        self.ended = True
        if self.due is None:
            return False
        progress = self._conversation.receive_eof()
        self.failure = progress.failure if self._shaken else Failure(self._stage, Reason.CLOSED)
        return self.failure is None
