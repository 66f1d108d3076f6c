"""Reading the length-prefixed vectors that TLS messages are made of (RFC 8446 section 3)."""


class TruncatedError(ValueError):
    """A message is shorter than its own lengths say."""


class Cursor:
    """A place in a message; every step checks that the bytes are there."""

    __slots__ = ("_data", "_place")

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self._place = place

    @property
    def left(self) -> int:
        """Bytes not yet taken."""
        return len(self._data) - self._place

    def take(self, count: int) -> bytes:
        """Return the next count bytes; TruncatedError if there are fewer."""
        start = self._place
        end = start + count
        if end > len(self._data):
            raise TruncatedError
        self._place = end
        return self._data[start:end]

    def number(self, width: int) -> int:
        """Return the next number of width bytes, most significant byte first."""
        return int.from_bytes(self.take(width), "big")

    def vector(self, width: int) -> bytes:
        """Return the next vector, whose length stands before it in width bytes."""
        start = self._place + width
        end = start + int.from_bytes(self._data[self._place : start], "big")
        if end > len(self._data):
            raise TruncatedError
        self._place = end
        return self._data[start:end]


def extensions(block: bytes) -> list[tuple[int, bytes]]:
    """Return type and content of each extension in an extension block, the block's own length taken off."""
    found = []
    start, end = 0, len(block)
    while start + 4 <= end:
        content = start + 4
        start = content + (block[content - 2] << 8 | block[content - 1])
        if start > end:
            raise TruncatedError
        found.append((block[content - 4] << 8 | block[content - 3], block[content:start]))
    if start != end:
        raise TruncatedError
    return found
