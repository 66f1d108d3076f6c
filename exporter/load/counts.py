"""What is counted of one order: all that was due while it was measured, and all that was done in that time."""

import time
from array import array
from collections import Counter

from exporter.load.orders import Order, Requests, Tally, pack_times
from exporter.load.visit import Visit
from exporter.model.failure import Failure, Reason
from exporter.probe.stamps import RunDelay

_OUR_OWN = frozenset({Reason.TIMEOUT, Reason.STALLED, Reason.LOCAL_RESOURCES})
"""What is no word of the server's: it said nothing, or it was we who could not."""


class Counts:
    """Counts what falls into an order's measured time; the warm-up before it leaves no trace.

    `begin` and `end` run for every visit, and so spell out what `_counts` says.
    """

    def __init__(self, order: Order) -> None:
        self._opens, self._closes = order.opens, order.closes
        self._due = self._unstarted = self._done = self._resumed = 0
        self._handshakes, self._first_bytes, self._lateness, self._refusals = (array("d") for _ in range(4))
        self._failures: Counter[str] = Counter()
        self._run_delay = RunDelay()
        self._began: tuple[float, float, float] | None = None
        self._used: tuple[float, float, float] | None = None

    def watch(self, now: float) -> None:
        """Note our own processor time when measuring begins and when it ends."""
        if self._began is None:
            if now >= self._opens:
                self._began = self._read_usage(now)
        elif self._used is None and now >= self._closes:
            used = self._read_usage(now)
            self._used = (used[0] - self._began[0], used[1] - self._began[1], used[2] - self._began[2])

    def begin(self, due: float, now: float) -> None:
        """Note that a connection begins now."""
        if self._opens <= due < self._closes:
            self._due += 1
            self._lateness.append(now - due)

    def leave_out(self, due: float) -> None:
        """Note that it could not begin, since too many are under way."""
        if self._counts(due):
            self._unstarted += 1

    def end(self, visit: Visit, now: float) -> None:
        """Note how it ended, now."""
        if visit.failure is not None:
            self.fail(visit.failure, visit.due, visit.begun, now)
            return
        due = visit.due
        if self._opens <= now < self._closes:
            self._done += 1
            self._resumed += visit.resumed
        if self._opens <= due < self._closes:
            self._handshakes.append(visit.shaken - due)
            self._first_bytes.append(now - due)

    def fail(self, failure: Failure, due: float, begun: float, now: float) -> None:
        """Note that it failed, now."""
        if not self._counts(due):
            return
        self._failures[spell(failure)] += 1
        if failure.reason not in _OUR_OWN:
            self._refusals.append(now - begun)

    def tally(self, requests: Requests) -> Tally:
        """Return all of it, once the order was carried out."""
        self._run_delay.close()
        wall, processor, run_delay = self._used or (0.0, 0.0, 0.0)
        return Tally(
            due=self._due,
            unstarted=self._unstarted,
            done=self._done,
            resumed=self._resumed,
            handshakes=pack_times(self._handshakes),
            first_bytes=pack_times(self._first_bytes),
            lateness=pack_times(self._lateness),
            failures=dict(self._failures),
            refusals=pack_times(self._refusals),
            processor=processor,
            run_delay=run_delay,
            wall=wall,
            requests=requests,
        )

    def _counts(self, moment: float) -> bool:
        return self._opens <= moment < self._closes

    def _read_usage(self, now: float) -> tuple[float, float, float]:
        return now, time.process_time(), (self._run_delay.read() or 0) / 1e9


def spell(failure: Failure) -> str:
    """Return how a kind of failure is called where failures are counted."""
    return f"{failure.stage}: {failure.reason.replace('_', ' ')}"
