"""Which of many are kept where there may only be so many."""

import hashlib
import heapq
from collections.abc import Collection
from typing import TypeVar

from exporter.model.target import Endpoint

E = TypeVar("E", bound=Endpoint)


def choose(places: Collection[E], most: int) -> frozenset[E]:
    """Return at most so many of the places; who comes or goes among the others changes none, or one for each.

    By a hash, since the first by number would be those of one zone or of one rollout.
    """
    if len(places) <= most:
        return frozenset(places)
    return frozenset(heapq.nsmallest(most, places, key=_rank))


def _rank(place: Endpoint) -> tuple[bytes, str]:
    text = str(place)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), text
