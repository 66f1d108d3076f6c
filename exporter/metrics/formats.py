"""Families as pieces of an exposition: the older format of Prometheus, version 0.0.4, and OpenMetrics 1.0.0."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from exporter.metrics.families import TABLE
from exporter.metrics.family import Family
from exporter.metrics.lines import Lines

_PIECE = 64 * 1024
"""Bytes: what a socket takes at a time, and what is joined while other threads would hardly notice."""


def write_text(found: Sequence[Lines]) -> Iterator[bytes]:
    """Write the older format: a family has the name of its series."""
    return _gather(_each(found, _text_head))


def write_openmetrics(found: Sequence[Lines]) -> Iterator[bytes]:
    """Write OpenMetrics: a counter's family has no `_total`, units are told, and the end is marked."""
    return _gather(_closed(_each(found, _openmetrics_head)))


def _each(found: Sequence[Lines], head: Callable[[Family], str]) -> Iterator[bytes]:
    """Yield the families that have lines, in the table's order: all series of a family stand together."""
    for family in TABLE:
        name = family.name
        if lines := [each[name] for each in found if name in each]:
            yield head(family).encode()
            yield from lines


def _closed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    yield from pieces
    yield b"# EOF\n"


def _text_head(family: Family) -> str:
    name = family.full_name
    return f"# HELP {name} {family.help}\n# TYPE {name} {family.kind}\n"


def _openmetrics_head(family: Family) -> str:
    name = family.full_name.removesuffix("_total")
    unit = f"# UNIT {name} {family.unit}\n" if family.unit else ""
    return f"# HELP {name} {family.help}\n# TYPE {name} {family.kind}\n{unit}"


def _gather(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Join small pieces to larger ones."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield b"".join(waiting)
            waiting.clear()
            size = 0
    if waiting:
        yield b"".join(waiting)
