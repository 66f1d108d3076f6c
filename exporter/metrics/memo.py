"""What was made once of a value, kept for the next time that the same value comes."""

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(dict[K, V], Generic[K, V]):
    """A mapping that makes what it does not hold; it begins anew when it is full.

    functools.lru_cache takes twice as long for a value that it has, since it also keeps the order of use, and makes a
    tuple for each float that it is asked for: at a hundred thousand series a scrape, both are to be felt. Several
    threads may ask at once; the worst is that something is made twice.

    Args:
        make: from a key to its value, always the same.
        most: how many are kept.
    """

    def __init__(self, make: Callable[[K], V], most: int) -> None:
        super().__init__()
        self._make = make
        self._most = most

    def __missing__(self, key: K) -> V:
        """Make a value and keep it."""
        made = self._make(key)
        if len(self) >= self._most:
            self.clear()
        self[key] = made
        return made
