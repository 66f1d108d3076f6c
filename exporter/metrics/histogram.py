"""A classic histogram as plain numbers."""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Distribution:
    """What a histogram holds at one moment.

    Attributes:
        bounds: upper bounds, ascending, without +Inf.
        counts: observations up to each bound, and all of them at the end.
        sum: of all observed values.
    """

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    sum: float


class Histogram:
    """Counts of observations by upper bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count one value; it belongs to the first bound that is not below it."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def freeze(self) -> Distribution:
        """Return what was counted so far."""
        return Distribution(self._bounds, tuple(accumulate(self._counts)), self._sum)
