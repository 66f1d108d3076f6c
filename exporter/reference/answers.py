"""The one handler of the reference: from the head of a request to the bytes of its answer."""

from dataclasses import dataclass

BODY = (b"This is the reference server of a TLS prober.\n" * 23)[:1024]
LARGE_PATH = b"/bytes/"
"""A number behind it asks for a body of so many bytes."""
MOST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send, and whether the connection then carries another request.

    Attributes:
        filler: bytes of any content that follow `data`.
    """

    data: bytes
    keep: bool
    filler: int = 0


def _render(status: str, body: bytes, *, keep: bool, head_only: bool = False) -> Answer:
    head = _head(status, len(body), keep=keep)
    return Answer(head if head_only else head + body, keep)


def _head(status: str, length: int, *, keep: bool) -> bytes:
    fields = [f"HTTP/1.1 {status}", "Content-Type: text/plain", f"Content-Length: {length}"]
    if not keep:
        fields.append("Connection: close")
    return "\r\n".join([*fields, "", ""]).encode()


def _refuse(status: str) -> Answer:
    return _render(status, f"{status}\n".encode(), keep=False)


_OK = {
    (method, keep): _render("200 OK", BODY, keep=keep, head_only=method == b"HEAD")
    for method in (b"GET", b"HEAD")
    for keep in (True, False)
}
_MALFORMED = _refuse("400 Bad Request")
_HAS_CONTENT = _refuse("413 Content Too Large")
_HEAD_TOO_LARGE = _refuse("431 Request Header Fields Too Large")
_OTHER_METHOD = _refuse("501 Not Implemented")


def answer(head: bytes) -> Answer:
    """Return the answer to a request, given all of its head before the empty line (RFC 9112 section 2.1).

    GET and HEAD of any path get 200 and BODY, or as many bytes as LARGE_PATH asks for. A request that is not
    understood, or that brings content, is refused and ends the connection, since where the next request begins is not
    known then.
    """
    request, *fields = head.split(b"\r\n")
    parts = request.split(b" ")
    if len(parts) != 3 or not parts[2].startswith(b"HTTP/1."):
        return _MALFORMED
    method, path, version = parts
    if method not in {b"GET", b"HEAD"}:
        return _OTHER_METHOD
    keep = version != b"HTTP/1.0"
    for line in fields:
        name, colon, value = line.partition(b":")
        if not colon:
            return _MALFORMED
        match name.lower():
            case b"connection":
                keep = keep and b"close" not in value.lower()
            case b"transfer-encoding":
                return _HAS_CONTENT
            case b"content-length" if value.strip() != b"0":
                return _HAS_CONTENT
    return _answer_large(method, path, keep=keep) if path.startswith(LARGE_PATH) else _OK[method, keep]


def _answer_large(method: bytes, path: bytes, *, keep: bool) -> Answer:
    digits = path.removeprefix(LARGE_PATH)
    if not digits.isdigit() or len(digits) > len(str(MOST_BYTES)) or int(digits) > MOST_BYTES:
        return _OK[method, keep]
    return Answer(_head("200 OK", int(digits), keep=keep), keep, int(digits) if method == b"GET" else 0)


def refuse_head() -> Answer:
    """Return the answer to a head that is longer than we read."""
    return _HEAD_TOO_LARGE
