"""What both versions of HTTP tell of a conversation, and the bounds that they share."""

from dataclasses import dataclass

from exporter.model.connections import Announced, End
from exporter.model.failure import Failure

MOST_BODY_BYTES = 1 << 20
MOST_OTHER_BYTES = 1 << 16
"""Of an answer: head, framing and all else that is no content, together."""
MOST_INTERIM_ANSWERS = 16

NOTHING_ANNOUNCED = Announced()


@dataclass(frozen=True, slots=True)
class HttpProgress:
    """How far the request that is under way has come, or what became of the idle connection.

    Attributes:
        done: the answer is complete, as far as we care; no failure then. Told once.
        failure: why it will not be, or what came though nothing was asked; its stage is `http`.
        status: 0 until the answer's head came; interim answers (1xx) are passed over.
        version: such as "1.1".
        body_bytes: bytes of content so far, as sent: nothing is ever decompressed.
        keep_alive: whether another request may follow, told when done.
        end: why none may, told with `done`, with `failure`, or of an idle connection.
        announced: what the answer's head said of the connection's life.
        goaway: the error code of HTTP/2's GOAWAY, from when it came.
        send: what the protocol itself wants sent now, also beside a failure.
        begun: some of the answer has come, be it of an interim one.
    """

    done: bool = False
    failure: Failure | None = None
    status: int = 0
    version: str = ""
    body_bytes: int = 0
    keep_alive: bool = False
    end: End | None = None
    announced: Announced = NOTHING_ANNOUNCED
    goaway: int | None = None
    send: bytes = b""
    begun: bool = False
