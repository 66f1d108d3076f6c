"""Which rate to try next. Pure: it is told what became of each."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol


class Rates(Protocol):
    """Yields rates to try, and is told whether the last one was sustained."""

    def next_rate(self) -> float | None:
        """Return the rate to try, None where there is nothing left to learn."""
        ...

    def note(self, *, sustained: bool) -> None:
        """Note what became of it."""
        ...


class Ladder:
    """Given rates, one after the other, up to the first that is not sustained."""

    def __init__(self, rates: Sequence[float]) -> None:
        self._rates: Iterator[float] = iter(rates)

    def next_rate(self) -> float | None:
        """Return the next step."""
        return next(self._rates, None)

    def note(self, *, sustained: bool) -> None:
        """Go no further where it was not sustained."""
        if not sustained:
            self._rates = iter(())


class Search:
    """Doubles the rate until it is not sustained, then narrows down where that begins.

    Args:
        start: the first rate to try, a second.
        most: no rate above it is tried.
        precision: how far the lowest rate that was not sustained may lie above the highest that was, as a share.
        least: no rate below it is tried.
    """

    def __init__(self, start: float, most: float, precision: float, least: float = 1.0) -> None:
        self._rate = min(start, most)
        self._most = most
        self._precision = precision
        self._least = least
        self._good: float | None = None
        self._bad: float | None = None

    def next_rate(self) -> float | None:
        """Return the next rate between what is known to be sustained and what is not."""
        good, bad = self._good, self._bad
        if good is not None and bad is not None:
            if bad <= good * (1 + self._precision):
                return None
            self._rate = (good * bad) ** 0.5
        elif bad is not None:
            self._rate = bad / 2
        elif good is not None:
            if good >= self._most:
                return None
            self._rate = min(good * 2, self._most)
        return self._rate if self._rate >= self._least else None

    def note(self, *, sustained: bool) -> None:
        """Narrow down."""
        if sustained:
            self._good = self._rate
        else:
            self._bad = self._rate


class Timed:
    """Other rates, up to a moment: what begins after it is not begun.

    Args:
        clock: seconds, by which `until` is told too.
    """

    def __init__(self, rates: Rates, clock: Callable[[], float], until: float) -> None:
        self._rates = rates
        self._clock = clock
        self._until = until

    def next_rate(self) -> float | None:
        """Return the next rate, if there is time left."""
        return None if self._clock() >= self._until else self._rates.next_rate()

    def note(self, *, sustained: bool) -> None:
        """Pass it on."""
        self._rates.note(sustained=sustained)
