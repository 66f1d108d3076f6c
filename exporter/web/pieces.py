"""Bodies in pieces: made, packed and sent so that nothing else waits for more than one of them.

A body of many megabytes in one piece is copied, packed and handed to the system by single calls, and neither the event
loop nor any other thread gets a turn before such a call is over.
"""

import asyncio
import zlib
from collections.abc import Iterator, Sequence

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

SIZE = 64 * 1024
"""Bytes of a piece, about."""

WORTH_PACKING = 1024
"""Bytes of a body from which on packing it is worth the time."""

_GZIP = 16 + zlib.MAX_WBITS  # zlib's way to say that it is to write a header and an end of gzip


def cut(body: bytes) -> Sequence[bytes]:
    """Cut a body that was made whole."""
    return tuple(body[begin : begin + SIZE] for begin in range(0, len(body), SIZE))


def pack(pieces: Sequence[bytes], level: int) -> Sequence[bytes]:
    """Pack with gzip, at a level of one to nine; zlib lets other threads go on while it packs a piece."""
    return tuple(piece for piece in _pack(pieces, level) if piece)


def _pack(pieces: Sequence[bytes], level: int) -> Iterator[bytes]:
    packer = zlib.compressobj(level, zlib.DEFLATED, _GZIP)
    yield from map(packer.compress, pieces)
    yield packer.flush()


def body_of(pieces: Sequence[bytes]) -> "bytes | Pieces":
    """Return the pieces as aiohttp takes a response's body; what is small goes out in one with the headers."""
    return Pieces(pieces) if len(pieces) > 1 else b"".join(pieces)


class Pieces(Payload):
    """A body that is sent piece by piece, no faster than the client takes it.

    Attributes:
        left: bytes that wait to be handed to the connection.
    """

    def __init__(self, pieces: Sequence[bytes]) -> None:
        super().__init__(pieces)
        self._pieces = pieces
        self._size = self.left = sum(map(len, pieces))

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the body as text."""
        return b"".join(self._pieces).decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Send all, and let the others have their turn after each piece."""
        for piece in self._pieces:
            self.left -= len(piece)
            await writer.write(piece)
            await asyncio.sleep(0)
