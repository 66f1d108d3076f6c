"""Expositions read back as a scraper reads them."""

from collections.abc import Iterable, Sequence

from prometheus_client import parser
from prometheus_client.core import Metric
from prometheus_client.openmetrics import parser as openmetrics

from exporter.metrics.collector import LedgerCollector
from exporter.metrics.exposition import Part, render
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from tests.metrics.scenes import Unheard

TEXT = "text/plain"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def expose(parts: Sequence[Part], accept: str = TEXT) -> str:
    """Return the exposition, in which no part may fail."""
    unheard = Unheard()
    body, _ = render(parts, accept, Faults(unheard))
    assert [] == unheard.faults
    return body.decode()


def families(text: str, accept: str = TEXT) -> Sequence[Metric]:
    """Parse an exposition."""
    if accept == TEXT:
        return list(parser.text_string_to_metric_families(text))
    parse = openmetrics.text_string_to_metric_families
    return list(parse(text))  # type: ignore[no-untyped-call]


def series(metrics: Iterable[Metric]) -> Series:
    """Return every sample by its name and labels; two of the same name and labels are an error."""
    samples = [sample for metric in metrics for sample in metric.samples]
    found = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in samples}
    assert len(samples) == len(found)
    return found


class Scrape:
    """One scrape of a ledger, asked for single series."""

    def __init__(self, ledger: Ledger) -> None:
        unheard = Unheard()
        self.series = series(families(expose([LedgerCollector(ledger, Faults(unheard))])))
        assert [] == unheard.faults

    def value(self, name: str, **labels: object) -> float | None:
        """Return the value of a series of the target `shop`, None where it is absent."""
        wanted = {"target": "shop"} | {label: str(value) for label, value in labels.items()}
        return self.series.get((f"tlsprobe_{name}", frozenset(wanted.items())))

    def labels(self, name: str) -> list[dict[str, str]]:
        """Return the labels of all series of a name."""
        return [dict(labels) for found, labels in self.series if found == f"tlsprobe_{name}"]
