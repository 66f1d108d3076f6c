"""Rows as text: the older format of Prometheus, version 0.0.4, and OpenMetrics 1.0.0.

prometheus_client's encoders write the same, and take five times as long, which other threads spend waiting.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from prometheus_client.utils import floatToGoString

from exporter.metrics.families import TABLE
from exporter.metrics.family import Family, Kind
from exporter.metrics.histogram import Distribution
from exporter.metrics.row import Row

_BOUND = "le"


def write_text(rows: Iterable[Row]) -> str:
    """Write the older format: a family has the name of its series."""
    lines: list[str] = []
    for family, found in _grouped(rows):
        name = family.full_name
        lines.append(f"# HELP {name} {family.help}\n# TYPE {name} {family.kind}\n")
        lines.extend(_series(family, found))
    return "".join(lines)


def write_openmetrics(rows: Iterable[Row]) -> str:
    """Write OpenMetrics: a counter's family has no `_total`, units are told, and the end is marked."""
    lines: list[str] = []
    for family, found in _grouped(rows):
        name = family.full_name.removesuffix("_total")
        lines.append(f"# HELP {name} {family.help}\n# TYPE {name} {family.kind}\n")
        if family.unit:
            lines.append(f"# UNIT {name} {family.unit}\n")
        lines.extend(_series(family, found))
    return "".join((*lines, "# EOF\n"))


def _grouped(rows: Iterable[Row]) -> Iterator[tuple[Family, Sequence[Row]]]:
    """Yield the families that have rows, in the table's order: all series of a family stand together."""
    by_name: Mapping[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[row.family.name].append(row)
    return ((family, by_name[family.name]) for family in TABLE if family.name in by_name)


def _series(family: Family, rows: Iterable[Row]) -> Iterator[str]:
    if family.kind is Kind.HISTOGRAM:
        return _histograms(family, rows)
    if family.owner_labels:
        return map(_owned, rows)
    begin = _beginning(family.full_name, family.labels).format
    return (f"{begin(*map(_escape, labels))}{numeral(value)}\n" for _, labels, value, _ in rows)


def _owned(row: Row) -> str:
    names, values = zip(*row.owner, strict=True) if row.owner else ((), ())
    begin = _beginning(row.family.full_name, (*row.family.labels, *names))
    return f"{begin.format(*map(_escape, (*row.labels, *values)))}{numeral(row.value)}\n"


def _histograms(family: Family, rows: Iterable[Row]) -> Iterator[str]:
    bucket = _beginning(f"{family.full_name}_bucket", (*family.labels, _BOUND)).format
    count = _beginning(f"{family.full_name}_count", family.labels).format
    total = _beginning(f"{family.full_name}_sum", family.labels).format
    for row in rows:
        if isinstance(row.value, Distribution):
            labels = tuple(map(_escape, row.labels))
            bounds = (*map(numeral, row.value.bounds), "+Inf")
            for bound, below in zip(bounds, row.value.counts, strict=True):
                yield f"{bucket(*labels, bound)}{numeral(below)}\n"
            yield f"{count(*labels)}{numeral(row.value.counts[-1])}\n"
            yield f"{total(*labels)}{numeral(row.value.sum)}\n"


def _beginning(name: str, labels: tuple[str, ...]) -> str:
    """Return what a line holds before its value, to be formatted with the labels' values; labels stand by name."""
    places = sorted((label, place) for place, label in enumerate(labels))
    pairs = ",".join(f'{label}="{{{place}}}"' for label, place in places)
    return f"{name}{{{{{pairs}}}}} " if pairs else f"{name} "


@lru_cache(maxsize=8192)
def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


@lru_cache(maxsize=4096)
def numeral(value: float) -> str:
    """Return a number as Go would write it, which is how Prometheus names the bounds of buckets, too."""
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]
    return text
