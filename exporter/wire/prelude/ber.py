"""Reading the little of ASN.1's basic encoding that LDAP needs (RFC 4511 section 5.1): short tags, told lengths."""

from exporter.wire.cursor import Cursor, TruncatedError

_MOST_LENGTH_BYTES = 4


def length_of_length(first: int) -> int:
    """Return how many more bytes a length takes, by its first; TruncatedError for one that is not told or absurd."""
    if first < 0x80:
        return 0
    more = first & 0x7F
    if not 0 < more <= _MOST_LENGTH_BYTES:
        raise TruncatedError
    return more


def element(cursor: Cursor) -> tuple[int, bytes]:
    """Return the tag and the contents of the next element; TruncatedError where it is not whole."""
    tag = cursor.number(1)
    length = cursor.number(1)
    if more := length_of_length(length):
        length = cursor.number(more)
    return tag, cursor.take(length)


def expect(cursor: Cursor, tag: int) -> bytes:
    """Return the contents of the next element, which must have this tag; TruncatedError else."""
    found, contents = element(cursor)
    if found != tag:
        raise TruncatedError
    return contents


def integer(contents: bytes) -> int:
    """Return a number, of INTEGER or ENUMERATED; TruncatedError where there is none."""
    if not 0 < len(contents) <= 4:
        raise TruncatedError
    return int.from_bytes(contents, "big", signed=True)
