"""The application that Granian runs."""

from collections.abc import Awaitable, Callable
from typing import Any

Send = Callable[[dict[str, Any]], Awaitable[None]]

_HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"8")]


async def application(_scope: dict[str, Any], _receive: object, send: Send) -> None:
    """Answer every request with a few bytes, as ASGI has it."""
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": b"granian\n"})
