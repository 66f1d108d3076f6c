"""The requests that settings stand for, made once and kept."""

from dataclasses import dataclass
from functools import lru_cache

import h11

from exporter.model.target import HttpSettings

_NO_BODY_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "CONNECT"})
_UNFILLED_METHODS = frozenset({"HEAD", "CONNECT"})  # RFC 9112 section 6.3
_TELLING = frozenset({b"host", b"connection", b"upgrade", b"expect"})
_CONNECTION_ALONE = frozenset(
    {b"connection", b"host", b"keep-alive", b"proxy-connection", b"te", b"transfer-encoding", b"upgrade"}
)
"""What must not be in an HTTP/2 request (RFC 9113 section 8.2.2), and Host, which is a pseudo-header there."""
_END = h11.EndOfMessage()


@dataclass(frozen=True, slots=True)
class Request:
    """One request, the same for every conversation of a target.

    Attributes:
        head: the whole of it, checked.
        wire: the bytes of HTTP/1.1.
        gist: what decides of how the answer is read and what may follow it, since h11 writes all that it is given.
        closing: whether its own headers say that no other will follow.
        filled: whether answers to its method have content.
        fields: those of HTTP/2, pseudo-headers first.
    """

    head: h11.Request
    wire: bytes
    gist: h11.Request
    closing: bool
    filled: bool
    fields: tuple[tuple[bytes, bytes], ...]


@lru_cache(maxsize=1024)
def make_request(settings: HttpSettings, path: str | None, server_name: str, port: int, user_agent: str) -> Request:
    """Make the request for `path`, by GET whatever the settings' method is; the settings' own without one.

    Raises:
        ValueError: method, path or headers make no valid request.
    """
    method, target = (settings.method, settings.path) if path is None else ("GET", path)
    headers = [("Host", settings.host or _host(server_name, port)), ("User-Agent", user_agent), ("Accept", "*/*")]
    headers.append(("Connection", "keep-alive"))  # the default, but Apache announces its Keep-Alive only to who says so
    if method not in _NO_BODY_METHODS:
        headers.append(("Content-Length", "0"))
    own = {name.lower() for name, _ in settings.headers}
    headers = [pair for pair in headers if pair[0].lower() not in own]
    writer = h11.Connection(h11.CLIENT)
    try:
        head = h11.Request(method=method, target=target, headers=[*headers, *settings.headers])
        wire = writer.send(head) + writer.send(_END)
    except (h11.LocalProtocolError, UnicodeEncodeError) as error:
        raise ValueError(f"{method} {target} with these headers is no valid request") from error
    telling = [pair for pair in head.headers if pair[0] in _TELLING]
    gist = h11.Request(method=method, target=target, headers=telling)
    closing = writer.our_state is h11.MUST_CLOSE
    return Request(head, wire, gist, closing, method not in _UNFILLED_METHODS, _fields(head))


def _fields(head: h11.Request) -> tuple[tuple[bytes, bytes], ...]:
    """Return a request's fields as HTTP/2 has them (RFC 9113 section 8.3.1)."""
    host = next(value for name, value in head.headers if name == b"host")
    pseudo = ((b":method", head.method), (b":scheme", b"https"), (b":authority", host), (b":path", head.target))
    return (*pseudo, *((name, value) for name, value in head.headers if name not in _CONNECTION_ALONE))


def _host(server_name: str, port: int) -> str:
    name = server_name.partition("%")[0]
    host = f"[{name}]" if ":" in name else name
    return host if port == 443 else f"{host}:{port}"
