"""Makes the exposition off the event loop, once for all who wait for it."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from exporter.web.pieces import WORTH_PACKING, pack
from exporter.web.shared import Shared

Render = Callable[[str], tuple[Sequence[bytes], str]]
"""From an Accept header to the exposition, in pieces, and its content type; it is called in a thread."""

_LEVEL = 4  # of nine: level 6 takes twice as long, a third of what rendering does, and sends a sixth less


@dataclass(frozen=True, slots=True)
class Exposition:
    """One exposition as it goes out.

    Attributes:
        body: in pieces, packed where `encoding` says so.
        encoding: "gzip" or "".
    """

    body: Sequence[bytes]
    content_type: str
    encoding: str = ""


class Scrapes:
    """Renders one exposition at a time; all who ask alike before it is begun get the same one.

    Args:
        render: what makes it.
        thread: an executor of one thread.
    """

    def __init__(self, render: Render, thread: Executor) -> None:
        self._render = render
        self._shared: Shared[Exposition] = Shared(thread)

    async def ask(self, accept: str, *, packed: bool) -> Exposition:
        """Return an exposition that was begun after this call, gzip'ed if `packed` and large enough to be worth it."""
        return await self._shared.ask((accept, packed), lambda: self._make(accept, packed=packed))

    def _make(self, accept: str, *, packed: bool) -> Exposition:
        body, content_type = self._render(accept)
        if not packed or sum(map(len, body)) < WORTH_PACKING:
            return Exposition(body, content_type)
        return Exposition(pack(body, _LEVEL), content_type, "gzip")


def takes_gzip(accept_encoding: str) -> bool:
    """Return whether an Accept-Encoding header lets us answer with gzip (RFC 9110 section 12.5.3)."""
    weights = dict(map(_weighed, accept_encoding.lower().split(",")))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _weighed(member: str) -> tuple[str, float]:
    coding, *parameters = (part.strip() for part in member.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return coding, float(value)
            except ValueError:
                return coding, 0.0
    return coding, 1.0
