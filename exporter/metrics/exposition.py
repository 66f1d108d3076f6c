"""All parts as one text: Prometheus 0.0.4 or OpenMetrics 1.0.0, whichever the scraper would rather have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from exporter.metrics.faults import Faults
from exporter.metrics.formats import write_openmetrics, write_text
from exporter.metrics.lines import Lines

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

_OPENMETRICS = "application/openmetrics-text"

_VERSIONS: Mapping[str, tuple[str, ...]] = {
    "text/plain": ("", "0.0.4"),
    "text/*": ("",),
    "*/*": ("",),
    _OPENMETRICS: ("", "1.0.0"),
}


class Part(Protocol):
    """Whatever has families to show."""

    def lines(self) -> Iterable[Lines]:
        """Return what there is to show now."""
        ...


def render_pieces(parts: Sequence[Part], accept: str, faults: Faults) -> tuple[Sequence[bytes], str]:
    """Return the exposition in pieces of some 64 KiB, and its content type; a part that fails is left out and counted.

    An exposition is no picture of one moment: rounds end while it is made, so that one target may be shown before its
    round and another after. That is as it should be. Each target is shown whole, as of the end of one of its rounds,
    and nothing that is asked of the figures compares those of two targets within less than a round. Halting all rounds
    for as long as everything is read would take time from the handshakes that are being measured.

    Args:
        parts: asked in this order; no two of them may have a series in common.
        accept: the request's Accept header, "" where there was none.
        faults: where a part's failure goes.
    """
    found: list[Lines] = []
    for part in parts:
        with faults.guard(type(part).__name__):
            found.extend(part.lines())
    if prefers_openmetrics(accept):
        return tuple(write_openmetrics(found)), OPENMETRICS
    return tuple(write_text(found)), TEXT


def render(parts: Sequence[Part], accept: str, faults: Faults) -> tuple[bytes, str]:
    """Return a small exposition in one piece."""
    pieces, kind = render_pieces(parts, accept, faults)
    return b"".join(pieces), kind


def prefers_openmetrics(accept: str) -> bool:
    """Tell whether an Accept header (RFC 9110 section 12.5.1) ranks OpenMetrics 1.0.0 no lower than the older text.

    Prometheus asks for several versions of both; those that are not written here do not count.
    """
    openmetrics, text = 0.0, 0.0
    for media_type, version, weight in _media_ranges(accept):
        if version not in _VERSIONS.get(media_type, ()):
            continue
        if media_type == _OPENMETRICS:
            openmetrics = max(openmetrics, weight)
        else:
            text = max(text, weight)
    return openmetrics > 0 and openmetrics >= text


def _media_ranges(accept: str) -> Iterator[tuple[str, str, float]]:
    """Yield media type, its version ("" for any) and its weight; one with a weight that is none weighs nothing."""
    for media_range in accept.split(","):
        media_type, *parameters = (part.strip().lower() for part in media_range.split(";"))
        given = {
            name.strip(): value.strip().strip('"') for name, _, value in (text.partition("=") for text in parameters)
        }
        yield media_type, given.get("version", ""), _weight(given.get("q", "1"))


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0
