"""Rows become prometheus_client families, in the table's order."""

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.samples import Sample

from exporter.metrics.families import FAMILIES
from exporter.metrics.family import Family, Kind
from exporter.metrics.histogram import Distribution
from exporter.metrics.numeral import numeral
from exporter.metrics.row import Row


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
    bounds = (*map(numeral, value.bounds), "+Inf")
    for bound, count in zip(bounds, value.counts, strict=True):
        metric.samples.append(Sample(f"{metric.name}_bucket", {**labels, "le": bound}, count))
    metric.samples.append(Sample(f"{metric.name}_count", labels, value.counts[-1]))
    metric.samples.append(Sample(f"{metric.name}_sum", labels, value.sum))
