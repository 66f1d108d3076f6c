"""Readings as lines of text, which both formats share: they differ only in what stands between the families.

prometheus_client's encoders write the same, but take several times as long, and all other threads wait meanwhile. Each
line is written at once and its reading let go: a hundred thousand readings that are kept would make the garbage
collector look at all objects of the process, and every thread stands still for as long as that takes.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from exporter.metrics.families import TABLE
from exporter.metrics.family import Family, Kind
from exporter.metrics.histogram import Distribution
from exporter.metrics.labels import legible
from exporter.metrics.memo import Memo
from exporter.metrics.numeral import numeral
from exporter.metrics.reading import Reading
from exporter.metrics.row import Row, check_owner, check_value

Lines = Mapping[str, bytes]
"""From a family's name to the lines of its series, in the order in which they were read."""

_Write = Callable[[Sequence[str], Any], str]  # check_value() has seen that the value is of the family's kind


def write_lines(readings: Iterable[Reading]) -> Lines:
    """Write readings; one that no format can write is an error, and nothing is written then.

    Raises:
        KeyError: there is no family of that name.
        ValueError: labels or value are not as the family has them.
    """
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for name, labels, value, owner in readings:
        family, write = _WRITERS[name]
        check_value(family, labels, value)
        texts[name].append(_write_owned(family, labels, value, owner) if owner else write(labels, value))
    return {name: "".join(lines).encode() for name, lines in texts.items()}


def write_rows(rows: Iterable[Row]) -> Lines:
    """Write rows."""
    return write_lines(Reading(row.family.name, row.labels, row.value, row.owner) for row in rows)


def _write_owned(
    family: Family, labels: Sequence[str], value: float | Distribution, owner: Sequence[tuple[str, str]]
) -> str:
    check_owner(family, owner)
    write = _writer(family, tuple(name for name, _ in owner))
    return write((*labels, *(text for _, text in owner)), value)


def _writer(family: Family, owner: tuple[str, ...] = ()) -> _Write:
    """Return what writes a row, from values in the order of the family's labels and then the owner's."""
    names = (*family.labels, *owner)
    return _histogram_writer(family, names) if family.kind is Kind.HISTOGRAM else _number_writer(family, names)


def _number_writer(family: Family, names: tuple[str, ...]) -> _Write:
    line = _line(family.full_name, dict.fromkeys(names, "%s"), "%s")  # takes a third of the time of str.format
    places = sorted(range(len(names)), key=names.__getitem__)
    if places == list(range(len(names))):
        return lambda labels, value: line % (*map(_escape, labels), numeral(value))
    arrange = itemgetter(*places)
    return lambda labels, value: line % (*map(_escape, arrange(labels)), numeral(value))


def _histogram_writer(family: Family, names: tuple[str, ...]) -> _Write:
    write = _histogram_template(family, names).format

    return lambda labels, value: write(*map(_escape, labels), *map(numeral, value.counts), numeral(value.sum))


def _histogram_template(family: Family, names: tuple[str, ...]) -> str:
    """Return the lines of one row, to be formatted with the labels' values and then the numbers."""
    values = {label: f"{{{place}}}" for place, label in enumerate(names)}
    numbers = (f"{{{place}}}" for place in itertools.count(len(names)))
    bucket = f"{family.full_name}_bucket"
    lines = [_line(bucket, {**values, "le": numeral(bound)}, next(numbers), "{{", "}}") for bound in family.buckets]
    every = next(numbers)
    lines.append(_line(bucket, {**values, "le": "+Inf"}, every, "{{", "}}"))
    lines.append(_line(f"{family.full_name}_count", values, every, "{{", "}}"))
    lines.append(_line(f"{family.full_name}_sum", values, next(numbers), "{{", "}}"))
    return "".join(lines)


def _line(name: str, labels: Mapping[str, str], number: str, opening: str = "{", closing: str = "}") -> str:
    if not labels:
        return f"{name} {number}\n"
    pairs = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return f"{name}{opening}{pairs}{closing} {number}\n"


def _spell(text: str) -> str:
    return legible(text).replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


_escape = Memo(_spell, 8192).__getitem__
"""A scrape has tens of thousands of label values, and few that differ."""

_WRITERS: Mapping[str, tuple[Family, _Write]] = {family.name: (family, _writer(family)) for family in TABLE}
