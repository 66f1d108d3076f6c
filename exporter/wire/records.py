"""Record headers, and the messages of records that are still in clear (RFC 8446 section 5.1)."""

HEADER_BYTES = 5

CHANGE_CIPHER_SPEC = 20
ALERT = 21
HANDSHAKE = 22
APPLICATION_DATA = 23

_LONGEST_RECORD = (1 << 14) + 2048
"""Of any version; TLS 1.3 allows less, which the library checks."""

_LONGEST_MESSAGE = 1 << 18
"""Well above the library's own bounds, so that they speak first."""


def plausible(start: bytes | bytearray) -> bool:
    """Tell whether bytes can start a record: a known type, then major version 3. No bytes at all can."""
    if not start:
        return True
    return CHANGE_CIPHER_SPEC <= start[0] <= APPLICATION_DATA and (len(start) < 2 or start[1] == 3)


def record_end(data: bytes | bytearray, start: int) -> int:
    """Return where the record that begins at start ends, or 0 while it is incomplete.

    Something that is no record ends with the data: the library is to say what is wrong with it.
    """
    if len(data) < start + HEADER_BYTES:
        return 0
    length = data[start + 3] << 8 | data[start + 4]
    if length > _LONGEST_RECORD or data[start + 1] != 3 or not CHANGE_CIPHER_SPEC <= data[start] <= APPLICATION_DATA:
        return len(data)
    end = start + HEADER_BYTES + length
    return end if end <= len(data) else 0


def join_fragments(flight: bytes) -> bytes:
    """Return the contents of whole records, one behind the other."""
    joined = []
    start = 0
    while end := record_end(flight, start):
        joined.append(flight[start + HEADER_BYTES : end])
        start = end
    return b"".join(joined)


class ClearMessages:
    """Joins the handshake messages and alerts of one direction's records until encryption begins.

    In TLS 1.3 a change_cipher_spec record means nothing and application_data is the first encrypted one;
    in TLS 1.2 encryption begins behind change_cipher_spec.
    """

    def __init__(self, *, tls13: bool) -> None:
        self._last = APPLICATION_DATA if tls13 else CHANGE_CIPHER_SPEC
        self._held = b""
        self._handshake = bytearray()
        self._over = False

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return the messages that data completes: content types, and messages with their own headers."""
        found: list[tuple[int, bytes]] = []
        held = self._held + data
        start = 0
        while not self._over and (end := record_end(held, start)):
            content_type = held[start]
            if content_type == HANDSHAKE:
                self._join(held[start + HEADER_BYTES : end], found)
            elif content_type == ALERT:
                found.append((ALERT, held[start + HEADER_BYTES : end]))
            elif content_type in {self._last, APPLICATION_DATA}:
                self._over = True
            start = end
        self._over = self._over or len(self._handshake) > _LONGEST_MESSAGE
        self._held = b"" if self._over else held[start:]
        return found

    def _join(self, fragment: bytes, found: list[tuple[int, bytes]]) -> None:
        """Append the messages that a fragment completes, and hold what is left of it."""
        joined: bytes | bytearray = fragment
        if self._handshake:
            self._handshake += fragment
            joined = self._handshake
        start = 0
        while len(joined) >= start + 4:
            end = start + 4 + int.from_bytes(joined[start + 1 : start + 4], "big")
            if len(joined) < end:
                break
            found.append((HANDSHAKE, bytes(joined[start:end])))
            start = end
        if joined is fragment:
            self._handshake += fragment[start:]
        else:
            del self._handshake[:start]
