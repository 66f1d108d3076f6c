"""One connection under load: it is told when bytes came, and is then done, or failed, or neither yet."""

from collections.abc import Callable

from exporter.load.entrance import Entrance
from exporter.load.link import Link
from exporter.model.failure import Failure, Reason, Stage

_STATUS = slice(9, 12)  # of `HTTP/1.1 200`
_TOO_MANY_REQUESTS = b"429"


class Visit:
    """A handshake, the request behind it where there is one, and the first bytes of the answer.

    Args:
        due: when it should have begun, in seconds by the clock.
        begun: when it did.

    Raises:
        OSError: it could not begin.

    Attributes:
        shaken: when the handshake was done; 0 before that.
        done: whether all came that was waited for.
        failure: why that will not be.
    """

    __slots__ = ("_clock", "_entrance", "_keep", "begun", "done", "due", "failure", "link", "shaken")

    def __init__(
        self, entrance: Entrance, due: float, begun: float, clock: Callable[[], float], *, resume: bool
    ) -> None:
        self.due = due
        self.begun = begun
        self.shaken = 0.0
        self.done = False
        self.failure: Failure | None = None
        self._clock = clock
        self._keep = resume and entrance.single_use
        self._entrance = entrance
        self.link = Link(entrance, resume=resume)

    @property
    def over(self) -> bool:
        """Whether nothing more is waited for."""
        return self.done or self.failure is not None

    @property
    def resumed(self) -> bool:
        """The library's own word for it."""
        return bool(self.link.tls.session_reused)

    def advance(self) -> bool:
        """Go on, as the socket is ready for it; tell whether nothing more is waited for."""
        link = self.link
        try:
            if not link.greeted:
                link.greet()
            elif not link.receive():
                self.failure = Failure(self._stage, Reason.CLOSED)
            elif self.shaken:
                self._read()
            elif link.shake():
                self._shaken()
        except BlockingIOError:
            return False
        except OSError as error:
            self.failure = link.explain(error, self._stage)
        return self.done or self.failure is not None

    def expire(self) -> None:
        """Fail, as its time is up."""
        stalled = self.link.heard and not self.shaken
        stage = self._stage if self.link.greeted else Stage.CONNECT
        self.failure = Failure(stage, Reason.STALLED if stalled else Reason.TIMEOUT)

    @property
    def _stage(self) -> Stage:
        return Stage.HTTP if self.shaken and self._entrance.request else Stage.HANDSHAKE

    def _shaken(self) -> None:
        """Send our last flight and what belongs to it in one piece, which saves the server a wake-up and us a call."""
        self.shaken = self._clock()
        if self._entrance.request:
            self.link.tls.write(self._entrance.request)
        elif not self._entrance.awaits_tickets:
            self.done = True  # the flight goes out when the link is closed
            return
        self.link.send()

    def _read(self) -> None:
        """Take what came behind the handshake: tickets, the answer's first bytes, or the end."""
        answer = self.link.read()
        if answer is None and self._entrance.request:
            return
        if answer == b"":
            self.failure = Failure(self._stage, Reason.CLOSED)
        elif answer is not None and _refuses(answer):
            self.failure = Failure(Stage.HTTP, Reason.UNEXPECTED_STATUS)
        else:
            self.done = True
            if self._keep:
                self._entrance.keep_session(self.link.tls)


def _refuses(answer: bytes) -> bool:
    """Tell whether a server says that it cannot: 429, or any 5xx."""
    status = answer[_STATUS]
    return status.startswith(b"5") or status == _TOO_MANY_REQUESTS
