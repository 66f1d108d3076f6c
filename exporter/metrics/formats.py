"""Rows as text: the older format of Prometheus, version 0.0.4, and OpenMetrics 1.0.0.

prometheus_client's encoders write the same, but take several times as long, and all other threads wait meanwhile.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from prometheus_client.utils import floatToGoString

from exporter.metrics.families import TABLE
from exporter.metrics.family import Family, Kind
from exporter.metrics.histogram import Distribution
from exporter.metrics.row import Row


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
    if family.owner_labels:
        return map(_write_owned, rows)
    write = _template(family).format
    if family.kind is Kind.HISTOGRAM:
        return (write(*map(_escape, row.labels), *_numerals(row.value)) for row in rows)
    return (write(*map(_escape, labels), numeral(value)) for _, labels, value, _ in rows)


def _write_owned(row: Row) -> str:
    names, values = tuple(name for name, _ in row.owner), tuple(value for _, value in row.owner)
    return _template(row.family, names).format(*map(_escape, (*row.labels, *values)), *_numerals(row.value))


def _numerals(value: float | Distribution) -> Iterable[str]:
    return map(numeral, (*value.counts, value.sum) if isinstance(value, Distribution) else (value,))


def _template(family: Family, owner: tuple[str, ...] = ()) -> str:
    """Return the lines of one row, to be formatted with the labels' values and then the numbers."""
    labels = (*family.labels, *owner)
    values = {label: f"{{{place}}}" for place, label in enumerate(labels)}
    numbers = (f"{{{place}}}" for place in itertools.count(len(labels)))
    if family.kind is not Kind.HISTOGRAM:
        return _line(family.full_name, values, next(numbers))
    lines = [
        _line(f"{family.full_name}_bucket", {**values, "le": numeral(bound)}, next(numbers)) for bound in family.buckets
    ]
    every = next(numbers)
    lines.append(_line(f"{family.full_name}_bucket", {**values, "le": "+Inf"}, every))
    lines.append(_line(f"{family.full_name}_count", values, every))
    lines.append(_line(f"{family.full_name}_sum", values, next(numbers)))
    return "".join(lines)


def _line(name: str, labels: Mapping[str, str], number: str) -> str:
    if not labels:
        return f"{name} {number}\n"
    pairs = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return f"{name}{{{{{pairs}}}}} {number}\n"


@lru_cache(maxsize=8192)
def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


@lru_cache(maxsize=4096)
def numeral(value: float) -> str:
    """Return a number as Go would write it, which is how Prometheus names the bounds of buckets, too."""
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]
    return text
