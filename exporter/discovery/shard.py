"""Parts targets among several exporters, so that each is probed by exactly one.

Rendezvous hashing (Thaler and Ravishankar 1998): every shard has a score for each name, and the highest one wins. One
more shard takes only what it wins itself. Chance alone would leave the fullest of 16 shards with over a tenth more
than the mean now and then, so none takes more than its fair share and a little, and what it has no room for goes to the
shard with the next score.
"""

import hashlib
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from exporter.model.target import Target

MAX_SHARDS = 1000
SLACK = 0.08
"""By this share a shard may be fuller than the mean."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several exporters with the same sources of targets.

    Attributes:
        index: from 0 on.
        count: how many there are.
    """

    index: int
    count: int

    def choose(self, targets: Sequence[Target]) -> Sequence[Target]:
        """Return those that are this shard's, in the same order."""
        if self.count == 1:
            return targets
        owners = part(_bind(targets), self.count)
        return tuple(target for target, owner in zip(targets, owners, strict=True) if owner == self.index)


WHOLE = Shard(0, 1)


def part(keys: Sequence[str], count: int) -> list[int]:
    """Return the shard of each key; equal keys have the same one.

    The order of the keys does not matter.
    """
    sizes = Counter(keys)
    owners = {key: _first(_scores(key, count)) for key in sizes}
    full = -(-len(keys) * round(100 * (1 + SLACK)) // (100 * count))  # rounded up
    _relieve(owners, sizes, full, count)
    return [owners[key] for key in keys]


def _relieve(owners: dict[str, int], sizes: Mapping[str, int], full: int, count: int) -> None:
    """Let keys find another shard where theirs is full; who has to go hangs on the names alone."""
    wanted: Counter[int] = Counter()
    for key, owner in owners.items():
        wanted[owner] += sizes[key]
    if all(number <= full for number in wanted.values()):
        return
    room = [full] * count
    for key in sorted(owners, key=lambda key: _words(key, 1)):
        if room[owners[key]] < sizes[key]:
            scores = _scores(key, count)
            able = [shard for shard in range(count) if room[shard] >= sizes[key]]
            owners[key] = max(able, key=scores.__getitem__, default=owners[key])
        room[owners[key]] -= sizes[key]


def _first(scores: Sequence[int]) -> int:
    return scores.index(max(scores))


def _scores(key: str, count: int) -> tuple[int, ...]:
    """Return a score for each shard; those of the first shards are the same however many there are."""
    return _words(key, count + 1)[1:]


def _words(key: str, number: int) -> tuple[int, ...]:
    """Return so many numbers that stand for a key: an extendable hash gives more without changing the first."""
    return struct.unpack(f">{number}Q", hashlib.shake_128(key.encode("utf-8", "surrogatepass")).digest(8 * number))


def _bind(targets: Sequence[Target]) -> list[str]:
    """Return a key for each target: its name, or one name for all those that share sessions.

    The sessions of one can be offered to another only where both are probed.
    """
    leaders: dict[str, str] = {target.name: target.name for target in targets}

    def lead(name: str) -> str:
        while leaders[name] != name:
            leaders[name] = name = leaders[leaders[name]]
        return name

    for one, other in _bonds(targets):
        if other in leaders:
            first, second = sorted((lead(one), lead(other)))
            leaders[second] = first
    return [lead(target.name) for target in targets]


def _bonds(targets: Iterable[Target]) -> Iterable[tuple[str, str]]:
    return ((target.name, other) for target in targets for other in target.share_with)
