"""A client's turn in a benchmark: what it is told, and what it took. Lines of JSON carry both."""

import math
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec


@dataclass(frozen=True, slots=True)
class Turn:
    """So many handshakes, one after another.

    Attributes:
        pauses: seconds between two, drawn evenly from this range.
        rate: a second; where it is not 0 it takes the place of `pauses`.
        http: whether a request goes out on each.
        keep: sessions that are taken of each, to be offered later, by a client that can.
    """

    count: int
    pauses: tuple[float, float] = (0.0, 0.0)
    rate: float = 0.0
    http: bool = False
    keep: int = 0

    def waits(self, randomness: random.Random, started: float) -> Iterator[tuple[float, float]]:
        """Yield for each handshake how many seconds to wait, and not before which time it is due."""
        for number in range(self.count):
            if self.rate:
                yield 0.0, started + number / self.rate
            else:
                yield randomness.uniform(*self.pauses), -math.inf


@dataclass(frozen=True, slots=True)
class Taken:
    """What a turn took, all in seconds.

    Attributes:
        durations: of the handshakes, as the client tells them.
        walls: the same by the client's monotonic clock, where it has one.
        cpu: processor time of the whole process, user and system.
        disturbed: handshakes that the client itself would keep out of its histograms.
    """

    durations: tuple[float, ...]
    walls: tuple[float, ...]
    cpu: float
    disturbed: int = 0

    @property
    def cpu_each(self) -> float:
        """Processor seconds a handshake."""
        return self.cpu / len(self.durations)


def join(turns: Sequence[Taken]) -> Taken:
    """Take several turns as one."""
    return Taken(
        tuple(duration for turn in turns for duration in turn.durations),
        tuple(wall for turn in turns for wall in turn.walls),
        sum(turn.cpu for turn in turns),
        sum(turn.disturbed for turn in turns),
    )


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile by linear interpolation; of at least two values."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def read_turn(line: bytes) -> Turn:
    """Parse a line."""
    return msgspec.json.decode(line, type=Turn)


def read_taken(line: bytes) -> Taken:
    """Parse a line."""
    return msgspec.json.decode(line, type=Taken)


def write_line(message: Turn | Taken) -> bytes:
    """Render as a line."""
    return msgspec.json.encode(message) + b"\n"
