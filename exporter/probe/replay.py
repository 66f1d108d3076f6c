"""A handshake replayed for a client that is never starved of processor time. Pure: all times are handed in.

The wall clock counts our own lateness as the target's. The replay's clock moves by our own processor time in each step
of the engine, and at each arrival to no less than its time at the departure plus what the kernel saw pass between the
two. So work that overlaps with waiting is not counted twice, and time in which we merely did not run is not counted.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class _Wait:
    """From a flight's departure to the arrivals that answer it."""

    key: int
    clock: int
    first_arrival: int | None = None
    first_bytes: int = 0


class Replay:
    """The clock of a client that is never starved; whole nanoseconds throughout."""

    def __init__(self) -> None:
        self.clock = 0
        self.lateness = 0
        self.stamps_missing = False
        self._waits: list[_Wait] = []
        self._departures: dict[int, int] = {}

    def work(self, processor_time: int) -> None:
        """The engine took this long for one step."""
        self.clock += processor_time

    def depart(self, key: int) -> None:
        """A flight was handed to the kernel; `key` is the index of its last byte."""
        self._waits.append(_Wait(key, self.clock))

    def report(self, key: int, stamp: int) -> None:
        """The kernel says when a flight left; a retransmission reports once more, and only the first counts."""
        self._departures.setdefault(key, stamp)

    def arrive(self, stamp: int | None, size: int, lateness: int) -> None:
        """`size` bytes reached the kernel at `stamp` and were read `lateness` later."""
        self.lateness += lateness
        if not self._waits or stamp is None:
            self.stamps_missing = True
            return
        wait = self._waits[-1]
        if wait.first_arrival is None:
            wait.first_arrival, wait.first_bytes = stamp, size
        departure = self._departures.get(wait.key)
        if departure is None:
            self.stamps_missing = True
        else:
            self.clock = max(self.clock, wait.clock + stamp - departure)

    def server_time(self, round_trip: int) -> int | None:
        """Return what the server took in all waits together, the path's round trip taken off each; None if unknown."""
        total = 0
        answered = [wait for wait in self._waits if wait.first_arrival is not None]
        for wait in answered:
            departure = self._departures.get(wait.key)
            if departure is None or wait.first_arrival is None:
                return None
            total += max(0, wait.first_arrival - departure - round_trip)
        return total if answered else None

    def merged(self, segment: int) -> bool:
        """Say whether a wait's first read held more than one segment, so that its first arrival may be lost.

        The kernel keeps only the last stamp of segments that it merged before we read them.
        """
        return any(wait.first_bytes > segment > 0 for wait in self._waits)
