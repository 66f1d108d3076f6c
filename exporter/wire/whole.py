"""An ordinary HTTP/1.1 answer that came whole and in one piece, read by a pattern.

Most answers are, and h11, which reads all others, takes as long for one as a tenth of a handshake costs us. What is
read here is less than h11 allows and means the same to it, which a test makes sure of.
"""

import re
from typing import NamedTuple

_MOST_BYTES = 1 << 14  # of a TLS record
_MOST_DIGITS = 9
_BODILESS = frozenset({204, 304})
_HEAD = re.compile(
    rb"HTTP/1\.1 ([2-5][0-9]{2})(?: [\t\x20-\x7e]*)?\r\n"
    rb"((?:[-!#$%&'*+.^_`|~0-9A-Za-z]+:[\t\x20-\x7e]*\r\n)+)\r\n"
)  # RFC 9112 sections 4 and 5, without obs-text


class Whole(NamedTuple):
    """An answer.

    Attributes:
        http_version: such as b"1.1".
        headers: names in lower case, and values without the blanks around them.
        body: bytes of content.
    """

    status_code: int
    http_version: bytes
    headers: list[tuple[bytes, bytes]]
    body: int


def read_whole(data: bytes) -> Whole | None:
    """Return the answer that the bytes are; None where it takes more to tell.

    Args:
        data: all that came so far, in answer to a request that is answered with content.
    """
    head = _HEAD.match(data) if len(data) <= _MOST_BYTES else None
    if head is None:
        return None
    headers = []
    length: bytes | None = None
    for line in head[2].splitlines():
        name, _, value = line.partition(b":")
        name, value = name.lower(), value.strip(b" \t")
        if name == b"transfer-encoding" or (name == b"content-length" and length is not None):
            return None
        if name == b"content-length":
            length = value
        headers.append((name, value))
    status = int(head[1])
    if status in _BODILESS or length is None or not length.isdigit() or len(length) > _MOST_DIGITS:
        return None
    body = int(length)
    return Whole(status, b"1.1", headers, body) if head.end() + body == len(data) else None
