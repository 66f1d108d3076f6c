"""Both directions of a dialogue in clear, as bytes in memory: what came, in lines or counts, and what is to be sent."""

from collections.abc import Generator
from typing import TypeVar

from exporter.model.failure import Reason

T = TypeVar("T")
Waiting = Generator[None, None, T]
"""Something that yields whenever it needs more of the peer's bytes, and in the end returns a T."""

_MOST_BYTES = 1 << 16
_MOST_LINES = 512
_LINE_FEED = 0x0A


class RefusalError(Exception):
    """A dialogue cannot lead on; never leaves the package.

    Attributes:
        reason: one that the stage can have.
        detail: a few words for people.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Conversation:
    """What one stage ahead of TLS has heard and is to say; stages follow each other on the same one.

    Attributes:
        heard: bytes of the peer's in this stage.
    """

    def __init__(self) -> None:
        self._incoming = bytearray()
        self._outgoing = bytearray()
        self._searched = 0
        self._read = 0
        self._lines = 0
        self._ended = False
        self.heard = 0

    def begin_stage(self) -> None:
        """Count anew: bytes that came behind the stage before belong to this one."""
        self.heard = len(self._incoming)
        self._read = self._lines = 0

    def put(self, data: bytes) -> None:
        """Take bytes that came."""
        self._incoming += data
        self.heard += len(data)

    def end(self) -> None:
        """Note that no more will come."""
        self._ended = True

    def say(self, data: bytes) -> None:
        """Add bytes to what is to be sent."""
        self._outgoing += data

    def take_outgoing(self) -> bytes:
        """Return what is to be sent, once."""
        outgoing = bytes(self._outgoing)
        self._outgoing.clear()
        return outgoing

    def take_rest(self) -> bytes:
        """Return what came and was not read, once."""
        rest = bytes(self._incoming)
        self._incoming.clear()
        self._searched = 0
        return rest

    def wait(self) -> Waiting[None]:
        """Wait for more bytes; RefusalError if there will be none, or were too many."""
        check_size(self.heard)
        if self._ended:
            raise RefusalError(Reason.CLOSED)
        yield

    def line(self) -> Waiting[bytes]:
        """Return the next line without its end, which is LF with or without CR."""
        while (end := self._incoming.find(_LINE_FEED, self._searched)) < 0:
            self._searched = len(self._incoming)
            yield from self.wait()
        self._lines += 1
        if self._lines > _MOST_LINES:
            raise RefusalError(Reason.TOO_LARGE, f"over {_MOST_LINES} lines in clear")
        return self._cut(end + 1).removesuffix(b"\n").removesuffix(b"\r")

    def take(self, count: int) -> Waiting[bytes]:
        """Return the next count bytes."""
        while len(self._incoming) < count:
            yield from self.wait()
        return self._cut(count)

    def _cut(self, count: int) -> bytes:
        taken = bytes(self._incoming[:count])
        del self._incoming[:count]
        self._searched = 0
        self._read += count
        check_size(self._read)
        return taken


def check_size(count: int) -> None:
    """Raise RefusalError where a stage has more than 64 KiB."""
    if count > _MOST_BYTES:
        raise RefusalError(Reason.TOO_LARGE, f"over {_MOST_BYTES >> 10} KiB in clear")
