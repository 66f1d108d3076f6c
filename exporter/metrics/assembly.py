"""Readings become prometheus_client families, in the table's order."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.samples import Sample

from exporter.metrics.families import FAMILIES
from exporter.metrics.family import Family, Kind
from exporter.metrics.histogram import Distribution
from exporter.metrics.labels import legible
from exporter.metrics.readings import Reading

_LABEL_NAME = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class Row:
    """A reading that can be written as it is: its labels are legible and its value is a number."""

    family: Family
    labels: tuple[str, ...]
    value: float | Distribution
    owner: tuple[tuple[str, str], ...]


def check(readings: Iterable[Reading]) -> Sequence[Row]:
    """Make rows of readings; one that no format can write is an error, before any of them is exposed."""
    return [_row(reading) for reading in readings]


def _row(reading: Reading) -> Row:
    family = FAMILIES[reading.family]
    if len(reading.labels) != len(family.labels):
        raise ValueError(f"{family.name}: {len(reading.labels)} label values for {len(family.labels)} labels")
    for name, _ in reading.owner:
        if name in family.labels or not _LABEL_NAME.fullmatch(name):
            raise ValueError(f"{family.name}: {name!r} cannot be the name of a label")
    value = reading.value if isinstance(reading.value, Distribution) else float(reading.value)
    owner = tuple((name, legible(text)) for name, text in reading.owner)
    return Row(family, tuple(map(legible, reading.labels)), value, owner)


def assemble(rows: Iterable[Row]) -> Iterator[Metric]:
    """Yield a new family for each of the table's that has a row."""
    metrics: dict[str, Metric] = {}
    for row in rows:
        metric = metrics.get(row.family.name)
        if metric is None:
            metric = metrics[row.family.name] = _empty(row.family)
        _add(metric, row)
    for name in FAMILIES:
        if name in metrics:
            yield metrics[name]


def _empty(family: Family) -> Metric:
    match family.kind:
        case Kind.COUNTER:
            return CounterMetricFamily(family.full_name, family.help, labels=family.labels)
        case Kind.GAUGE:
            return GaugeMetricFamily(family.full_name, family.help, labels=family.labels, unit=family.unit)
        case Kind.HISTOGRAM:
            return HistogramMetricFamily(family.full_name, family.help, labels=family.labels, unit=family.unit)


def _add(metric: Metric, row: Row) -> None:
    if isinstance(row.value, Distribution):
        _add_histogram(metric, dict(zip(row.family.labels, row.labels, strict=True)), row.value)
    else:
        labels = dict((*zip(row.family.labels, row.labels, strict=True), *row.owner))
        metric.samples.append(Sample(row.family.full_name, labels, row.value))


def _add_histogram(metric: Metric, labels: dict[str, str], value: Distribution) -> None:
    bounds = (*map(repr, value.bounds), "+Inf")
    for bound, count in zip(bounds, value.counts, strict=True):
        metric.samples.append(Sample(f"{metric.name}_bucket", {**labels, "le": bound}, count))
    metric.samples.append(Sample(f"{metric.name}_count", labels, value.counts[-1]))
    metric.samples.append(Sample(f"{metric.name}_sum", labels, value.sum))
