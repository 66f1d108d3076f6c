"""When connections are due. Pure: time comes as an argument, in seconds by one monotonic clock."""

import math
from typing import Protocol


class Pace(Protocol):
    """Says when the next connection is due."""

    @property
    def next_due(self) -> float:
        """When; infinite while nothing can be said, in the past where we are late."""
        ...

    def take(self, now: float) -> float:
        """Return when the connection that begins now was due, and go on to the next."""
        ...

    def end_one(self) -> None:
        """Note that a connection has ended."""
        ...


class OpenPace:
    """Evenly spaced by the clock, whatever the server does.

    Args:
        begin: when the first of all workers' connections is due.
        rate: a second, over all workers.
        number, workers: which part of them is ours.
    """

    def __init__(self, begin: float, rate: float, number: int = 0, workers: int = 1) -> None:
        self._begin = begin
        self._rate = rate
        self._next = number
        self._workers = workers

    @property
    def next_due(self) -> float:
        """When the next one is due."""
        return self._begin + self._next / self._rate

    def take(self, now: float) -> float:
        """Return when it was due, which late beginners must not forget."""
        due = self.next_due
        self._next += self._workers
        return due

    def end_one(self) -> None:
        """What ends makes nothing begin here."""


class ClosedPace:
    """One connection after another for each client, and never faster than a rate.

    Args:
        begin: when the clients come.
        most: connections a second, of this worker; time that was not used is not made up for.
    """

    def __init__(self, begin: float, clients: int, most: float) -> None:
        self._free = clients
        self._gap = 1 / most
        self._not_before = begin

    @property
    def next_due(self) -> float:
        """When the next one may begin; infinite while no client is free."""
        return self._not_before if self._free > 0 else math.inf

    def take(self, now: float) -> float:
        """Take a free client; the connection is due when it begins."""
        self._free -= 1
        self._not_before = max(self._not_before, now - self._gap) + self._gap
        return now

    def end_one(self) -> None:
        """A client is free again."""
        self._free += 1
