"""Numbers as Go would write them, which is how Prometheus names the bounds of buckets, too."""

from prometheus_client.utils import floatToGoString

from exporter.metrics.memo import Memo


def _spell(value: float) -> str:
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]
    return text


numeral = Memo(_spell, 4096).__getitem__
"""Return a number's text."""
