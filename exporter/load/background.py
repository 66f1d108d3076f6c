"""Requests on kept-alive connections at an even pace, as the traffic that goes on while handshakes come."""

import math
import select
from array import array
from collections import Counter

from exporter.load.counts import spell
from exporter.load.entrance import Entrance
from exporter.load.line import Line
from exporter.load.orders import Order, Requests, pack_times
from exporter.load.pace import OpenPace
from exporter.probe.errors import explain_connect

_MOST_LINES = 256


class Background:
    """One worker's lines. A request goes out on an idle one, or on a new one where all are busy.

    Args:
        poll: where the lines' sockets are registered, beside others.
        most: lines at once, as far as file descriptors go.
    """

    def __init__(self, entrance: Entrance, order: Order, poll: select.epoll, *, most: int) -> None:
        self._entrance = entrance
        self._order = order
        self._poll = poll
        self._most = min(most, _MOST_LINES)
        self._pace = OpenPace(order.begin, order.background or 1.0, order.number, order.workers)
        self._lines: dict[int, Line] = {}
        self._idle: list[Line] = []
        self._due = self._done = 0
        self._times = array("d")
        self._failures: Counter[str] = Counter()

    @property
    def next_due(self) -> float:
        """When the next request is due; infinite where there is none any more."""
        if not self._order.background:  # asked twice a turn, and mostly there are none
            return math.inf
        due = self._pace.next_due
        return due if due < self._order.closes else math.inf

    @property
    def waiting(self) -> bool:
        """Whether an answer is waited for."""
        return len(self._lines) > len(self._idle)

    @property
    def requests(self) -> Requests:
        """All that was counted."""
        return Requests(self._due, self._done, pack_times(self._times), dict(self._failures))

    def begin(self, now: float) -> None:
        """Send what is due."""
        while self.next_due <= now:
            due = self._pace.take(now)
            self._due += self._counts(due)
            self._send(due)

    def advance(self, fd: int, now: float) -> None:
        """Go on with the line whose socket is ready."""
        line = self._lines[fd]
        greeted, due = line.link.greeted, line.due
        if line.advance() and due is not None:
            self._count(due, now)
            line.due = None
            if not line.ended:
                self._idle.append(line)
        elif not greeted and line.link.greeted:
            self._poll.modify(fd, select.EPOLLIN)
        self._look_after(line)

    def sweep(self, now: float) -> None:
        """End the requests that take too long."""
        latest = now - self._entrance.site.timeout
        for line in [line for line in self._lines.values() if line.due is not None and line.due < latest]:
            line.expire()
            self._look_after(line)

    def close(self) -> None:
        """End all lines."""
        for line in self._lines.values():
            line.link.close(politely=False)

    def _send(self, due: float) -> None:
        if self._idle:
            line = self._idle.pop()
            line.ask(due)
            self._look_after(line)
            return
        if len(self._lines) >= self._most:
            self._fail("unstarted", due)
            return
        try:
            line = Line(self._entrance, due)
        except OSError as error:
            self._fail(spell(explain_connect(error)), due)
            return
        self._lines[line.link.fd] = line
        self._poll.register(line.link.fd, select.EPOLLIN if line.link.greeted else select.EPOLLOUT)

    def _look_after(self, line: Line) -> None:
        """Let go of a line that is of no use any more."""
        if line.failure is None and not line.ended:
            return
        if line.failure is not None and line.due is not None:
            self._fail(spell(line.failure), line.due)
        del self._lines[line.link.fd]
        if line in self._idle:
            self._idle.remove(line)
        line.link.close(politely=line.failure is None)

    def _count(self, due: float, now: float) -> None:
        self._done += self._counts(now)
        if self._counts(due):
            self._times.append(now - due)

    def _fail(self, name: str, due: float) -> None:
        if self._counts(due):
            self._failures[name] += 1

    def _counts(self, moment: float) -> bool:
        return self._order.opens <= moment < self._order.closes
