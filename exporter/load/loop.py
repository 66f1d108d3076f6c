"""A worker's loop over one order: connections that begin when they are due, and go on when their sockets are ready."""

import math
import select
from collections.abc import Callable, Sequence

from exporter.load.background import Background
from exporter.load.counts import Counts
from exporter.load.entrance import Entrance
from exporter.load.orders import Loop, Order, Tally
from exporter.load.pace import ClosedPace, OpenPace, Pace
from exporter.load.visit import Visit
from exporter.model.observation import Mode
from exporter.probe.errors import explain_connect

_MOST_AT_ONCE = 8
"""Connections that begin before those under way are looked after again."""
_SWEEP_SECONDS = 0.05
_LONGEST_WAIT = 0.05


class StopError(Exception):
    """The parent has gone, or wants no more of it."""


class Driver:
    """Runs one order.

    Args:
        most: connections that may be under way at once, as far as file descriptors go.
        stop: a descriptor that can be read from when there is no more to be done; below 0 is none.
        clock: seconds, by the monotonic clock.
    """

    def __init__(
        self, entrance: Entrance, order: Order, clock: Callable[[], float], *, most: int, stop: int = -1
    ) -> None:
        self._entrance = entrance
        self._order = order
        self._clock = clock
        self._most = most
        self._stop = stop
        self._resume = order.mode is Mode.RESUMED
        self._pace = _pace(order)
        self._counts = Counts(order)
        self._live: dict[int, Visit] = {}
        self._swept = 0.0
        self._poll = select.epoll()
        self._background = Background(entrance, order, self._poll, most=most // 4)

    def run(self) -> Tally:
        """Wait for the order's beginning, carry it out, and wait for what is still under way.

        Raises:
            StopError: at once, when `stop` can be read.
        """
        try:
            if self._stop >= 0:
                self._poll.register(self._stop, select.EPOLLIN)
            while not self._turn():
                pass
        finally:
            for visit in self._live.values():
                visit.link.close(politely=False)
            self._background.close()
            self._poll.close()
        return self._counts.tally(self._background.requests)

    def _turn(self) -> bool:
        """Do what can be done now, then wait; tell whether all is done."""
        now = self._clock()
        self._counts.watch(now)
        due = self._begin_some(now)
        if now >= self._order.closes and not self._live and not self._background.waiting:
            return True
        if now - self._swept >= _SWEEP_SECONDS:
            self._sweep(now)
        ready = self._wait(min(due, self._background.next_due) - self._clock())
        for fd, _ in ready:
            visit = self._live.get(fd)
            if visit is not None:
                self._go_on(visit)
            elif fd == self._stop:
                raise StopError
            else:
                self._background.advance(fd, self._clock())
        return False

    def _begin_some(self, now: float) -> float:
        """Begin what is due, a few at a time; return when there is something to begin again."""
        self._background.begin(now)
        closes = self._order.closes
        if now >= closes:
            self._leave_out_rest(now)
            return math.inf
        for _ in range(_MOST_AT_ONCE):
            due = self._pace.next_due
            if due > now:
                return min(due, closes)
            self._begin(self._pace.take(now))
        return now

    def _leave_out_rest(self, now: float) -> None:
        """Give up what was due while we measured and what we were too slow to begin."""
        while self._order.loop is Loop.OPEN and self._pace.next_due < self._order.closes:
            due = self._pace.take(now)
            self._counts.begin(due, now)
            self._counts.leave_out(due)

    def _begin(self, due: float) -> None:
        now = self._clock()
        self._counts.begin(due, now)
        if len(self._live) >= self._most:
            self._counts.leave_out(due)
            self._pace.end_one()
            return
        try:
            visit = Visit(self._entrance, due, now, self._clock, resume=self._resume)
        except OSError as error:
            self._counts.fail(explain_connect(error), due, now, self._clock())
            self._pace.end_one()
            return
        link = visit.link
        self._live[link.fd] = visit
        self._poll.register(link.fd, select.EPOLLIN if link.greeted else select.EPOLLOUT)

    def _go_on(self, visit: Visit) -> None:
        greeted = visit.link.greeted
        if visit.advance():
            self._end(visit)
        elif not greeted and visit.link.greeted:
            self._poll.modify(visit.link.fd, select.EPOLLIN)

    def _end(self, visit: Visit) -> None:
        now = self._clock()
        self._counts.end(visit, now)
        del self._live[visit.link.fd]
        visit.link.close(politely=visit.done)
        self._pace.end_one()

    def _sweep(self, now: float) -> None:
        """End what takes too long; connections stand in the order in which they began."""
        self._swept = now
        latest = now - self._entrance.site.timeout
        while self._live and (oldest := next(iter(self._live.values()))).begun < latest:
            oldest.expire()
            self._end(oldest)
        self._background.sweep(now)

    def _wait(self, seconds: float) -> Sequence[tuple[int, int]]:
        """Wait until a socket is ready or the time is up, to the microsecond, which epoll itself cannot."""
        if seconds >= _LONGEST_WAIT:
            return self._poll.poll(_LONGEST_WAIT)
        ready = self._poll.poll(0)
        if ready or seconds <= 0:
            return ready
        select.select([self._poll.fileno()], [], [], seconds)
        return self._poll.poll(0)


def _pace(order: Order) -> Pace:
    if order.loop is Loop.CLOSED:
        return ClosedPace(order.begin, order.clients, order.rate / order.workers)
    return OpenPace(order.begin, order.rate, order.number, order.workers)
