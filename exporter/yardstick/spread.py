"""A median, and how far the single figures lie from it."""

import statistics
from collections.abc import Sequence

from exporter.model.bench import Spread


def summarise(figures: Sequence[float]) -> Spread:
    """Summarise figures, of which there is one at least."""
    if len(figures) == 1:
        return Spread(figures[0], figures[0], figures[0], 1)
    tenths = statistics.quantiles(figures, n=10, method="inclusive")
    return Spread(statistics.median(figures), tenths[0], tenths[-1], len(figures))
