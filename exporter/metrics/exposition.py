"""Collectors as text: Prometheus 0.0.4 or OpenMetrics 1.0.0, whichever the scraper would rather have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from exporter.metrics.faults import Faults

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

_OPENMETRICS = "application/openmetrics-text"

_ASKED: Mapping[str, str] = {
    TEXT: "text/plain; version=0.0.4",
    OPENMETRICS: "application/openmetrics-text; version=1.0.0; escaping=allow-utf-8",
}
"""What encoders are chosen by: no name of ours needs escaping, and without the search OpenMetrics is faster."""

_VERSIONS: Mapping[str, tuple[str, ...]] = {
    "text/plain": ("", "0.0.4"),
    "text/*": ("",),
    "*/*": ("",),
    _OPENMETRICS: ("", "1.0.0"),
}


def render(collectors: Sequence[Collector], accept: str, faults: Faults) -> tuple[bytes, str]:
    """Return the exposition and its content type; a collector that fails is left out and counted.

    Args:
        collectors: asked in this order; no two of them may have a family in common.
        accept: the request's Accept header, "" where there was none.
        faults: where a collector's failure goes.
    """
    content_type = OPENMETRICS if prefers_openmetrics(accept) else TEXT
    encode, _ = choose_encoder(_ASKED[content_type])
    return encode(_Everything(collectors, faults)), content_type


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


class _Everything:
    """Several collectors as the one that an encoder wants."""

    def __init__(self, collectors: Sequence[Collector], faults: Faults) -> None:
        self._collectors = collectors
        self._faults = faults

    def collect(self) -> Iterable[Metric]:
        for collector in self._collectors:
            families: list[Metric] = []
            with self._faults.guard(type(collector).__name__):
                families = list(collector.collect())
            yield from families
