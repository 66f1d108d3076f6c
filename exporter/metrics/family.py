"""What one metric family is, and how many series it costs."""

from dataclasses import dataclass
from enum import StrEnum

PREFIX = "tlsprobe_"

_UNITS = ("seconds", "bytes", "ratio")

SECONDS_BUCKETS = (*(0.00025 * 2**step for step in range(10)), 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: doubling while a machine's work is told apart, coarser where only a wait is left to be told."""


class Kind(StrEnum):
    """The metric types in use, by their names in the exposition."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """One row of the table.

    Attributes:
        name: without the prefix; a counter's ends in `_total`.
        help: one sentence, shown in the exposition.
        labels: in the order in which values are given.
        values: how many values the closed labels have together, so how many series each target, backend or version has.
        buckets: upper bounds of a histogram, in ascending order, without +Inf.
        owner_labels: whether the owner's own labels from the configuration follow the fixed ones.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    values: int = 1
    buckets: tuple[float, ...] = ()
    owner_labels: bool = False

    @property
    def full_name(self) -> str:
        """The name as it is scraped."""
        return PREFIX + self.name

    @property
    def unit(self) -> str:
        """The base unit that the name ends in, "" where there is none."""
        last = self.name.rpartition("_")[2]
        return last if last in _UNITS else ""

    @property
    def per_target(self) -> bool:
        """Whether targets add series to it; the others are about the exporter."""
        return "target" in self.labels

    @property
    def per_backend(self) -> bool:
        """Whether each backend of a target adds series."""
        return "backend" in self.labels

    @property
    def per_version(self) -> bool:
        """Whether each TLS version of a target adds series."""
        return "tls" in self.labels

    @property
    def factor(self) -> int:
        """Most series of one target, backend and version: a histogram has +Inf, a sum and a count beside."""
        return self.values * (len(self.buckets) + 3 if self.kind is Kind.HISTOGRAM else 1)

    def series(self, backends: int, versions: int) -> int:
        """Return how many series a target with that many backends and TLS versions adds at most."""
        if not self.per_target:
            return 0
        return self.factor * (backends if self.per_backend else 1) * (versions if self.per_version else 1)


def counter(name: str, labels: str, text: str, values: int = 1) -> Family:
    """Make a row of a counter; label names are given with blanks between."""
    return Family(name, Kind.COUNTER, text, tuple(labels.split()), values=values)


def gauge(name: str, labels: str, text: str, values: int = 1, *, owner_labels: bool = False) -> Family:
    """Make a row of a gauge."""
    return Family(name, Kind.GAUGE, text, tuple(labels.split()), values, owner_labels=owner_labels)


def histogram(name: str, labels: str, text: str, values: int = 1) -> Family:
    """Make a row of a histogram of seconds."""
    return Family(name, Kind.HISTOGRAM, text, tuple(labels.split()), values, SECONDS_BUCKETS)
