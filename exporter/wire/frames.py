"""HTTP/2 frames, cut out of a stream of bytes (RFC 9113 section 4.1)."""

from dataclasses import dataclass
from enum import IntEnum, IntFlag

MOST_FRAME_BYTES = 16_384
"""Of a payload: SETTINGS_MAX_FRAME_SIZE at its least, which is what we leave it at."""
_HEAD_BYTES = 9


class Kind(IntEnum):
    """Frame types (RFC 9113 section 6) that are told apart here."""

    DATA = 0
    HEADERS = 1
    RST_STREAM = 3
    SETTINGS = 4
    PUSH_PROMISE = 5
    GOAWAY = 7
    CONTINUATION = 9


class Flag(IntFlag):
    """Flags of those types; the first has two meanings."""

    ACK = 1
    END_STREAM = 1
    END_HEADERS = 4


@dataclass(frozen=True, slots=True)
class Frame:
    """One whole frame.

    Attributes:
        kind: its type, one of Kind or any other number.
        wire: all of its bytes.
    """

    kind: int
    flags: int
    stream: int
    wire: bytes

    @property
    def payload(self) -> bytes:
        """What follows its head."""
        return self.wire[_HEAD_BYTES:]


class OverlongFrameError(ValueError):
    """A frame's head tells of more bytes than we allow."""


def take_frame(buffer: bytearray) -> Frame | None:
    """Take the first frame out of a buffer; None as long as it is not whole.

    Raises:
        OverlongFrameError: it is too long, which its head alone tells, so that nobody waits for the rest.
    """
    length = int.from_bytes(buffer[:3], "big")
    if len(buffer) >= 3 and length > MOST_FRAME_BYTES:
        raise OverlongFrameError(f"a frame of {length} bytes")
    size = _HEAD_BYTES + length
    if len(buffer) < size:
        return None
    wire = bytes(buffer[:size])
    del buffer[:size]
    return Frame(wire[3], wire[4], int.from_bytes(wire[5:9], "big") & 0x7FFF_FFFF, wire)
