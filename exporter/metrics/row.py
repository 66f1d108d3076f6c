"""One reading that is fit to be written, whatever the format."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from exporter.metrics.families import FAMILIES
from exporter.metrics.family import Family
from exporter.metrics.histogram import Distribution
from exporter.metrics.labels import legible
from exporter.metrics.memo import Memo
from exporter.metrics.reading import Reading

_LABEL_NAME = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")

_legible = Memo(legible, 8192).__getitem__
"""There are tens of thousands of label values, and few that differ."""


class Row(NamedTuple):
    """A reading that can be written as it is: its labels are legible and its value is a number.

    A tuple like the reading, since a scrape makes tens of thousands of both.
    """

    family: Family
    labels: tuple[str, ...]
    value: float | Distribution
    owner: tuple[tuple[str, str], ...]


def check(readings: Iterable[Reading]) -> Sequence[Row]:
    """Make rows of readings; one that no format can write is an error, before any of them is exposed."""
    return [_row(*reading) for reading in readings]


def _row(name: str, labels: tuple[str, ...], value: float | Distribution, owner: tuple[tuple[str, str], ...]) -> Row:
    family = FAMILIES[name]
    check_value(family, labels, value)
    check_owner(family, owner)
    number = value if isinstance(value, Distribution) else float(value)
    return Row(family, tuple(map(_legible, labels)), number, tuple((name, legible(text)) for name, text in owner))


def check_value(family: Family, labels: Sequence[str], value: float | Distribution) -> None:
    """Raise ValueError unless a reading has as many labels as its family, and a value of its kind."""
    if len(labels) != len(family.labels):
        raise ValueError(f"{family.name}: {len(labels)} label values for {len(family.labels)} labels")
    buckets = value.bounds if isinstance(value, Distribution) else ()
    if buckets != family.buckets:
        raise ValueError(f"{family.name}: {value!r} is no value of a {family.kind} with the bounds {family.buckets}")


def check_owner(family: Family, owner: Sequence[tuple[str, str]]) -> None:
    """Raise ValueError unless the owner's labels can stand beside the family's."""
    for name, _ in owner:
        if name in family.labels or not _LABEL_NAME.fullmatch(name):
            raise ValueError(f"{family.name}: {name!r} cannot be the name of a label")
