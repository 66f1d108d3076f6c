"""Taking a handshake's time: the replay, the guards around it, and what to say when the kernel gives no stamps."""

import time
from collections.abc import Callable
from typing import NamedTuple

from exporter.model.observation import Timing, TimingSource
from exporter.probe.connection import Connection
from exporter.probe.replay import Replay
from exporter.probe.stamps import Piece, RunDelay, clock_offset
from exporter.wire.tls import Step

_CLOCK_STEP = 50_000  # ns; a slewed clock moves both clocks alike, so more than this apart is a step
_LATE = 300_000  # ns of starvation from which merged segments may hide a first arrival
_S = 1e9


class LapTime(NamedTuple):
    """How long a request's first answer took, in seconds, and whether the network disturbed it."""

    duration: float
    disturbed: bool


class Lap:
    """Times one flight and what answers it, without the guards that a handshake's figures have."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._replay = Replay()
        self._truncated = False
        self._seen = len(connection.departures)
        self._began = time.monotonic_ns()

    async def send(self, flight: bytes) -> None:
        """Send a flight, and begin to wait for what answers it."""
        self._replay.depart(await self._connection.send(flight, timed=True))

    def arrive(self, piece: Piece) -> None:
        """Note when a piece came."""
        departures = self._connection.departures
        for key, stamp in departures[self._seen :]:
            self._replay.report(key, stamp)
        self._seen = len(departures)
        self._truncated = self._truncated or piece.truncated
        self._replay.arrive(piece.stamp, len(piece.data), piece.lateness)

    def time(self) -> LapTime:
        """Return the time from the first departure to the last arrival so far."""
        stamped = self._connection.stamped and not self._replay.stamps_missing
        passed = self._replay.clock if stamped else time.monotonic_ns() - self._began
        retransmitted = self._connection.read_path().retransmissions > self._connection.path.retransmissions
        return LapTime(passed / _S, retransmitted or self._truncated or (self._connection.stamped and not stamped))


class Stopwatch(Lap):
    """Times one handshake on a connection, from its making to `stop`."""

    def __init__(self, connection: Connection, run_delay: RunDelay) -> None:
        super().__init__(connection)
        self._run_delay = run_delay
        self._hello_lateness = 0
        self._offset = clock_offset()
        self._delay = run_delay.read()

    async def send_hello(self, flight: bytes) -> None:
        """Send the first flight, and note by how much later it went out than our own work explains."""
        self._hello_lateness = max(0, time.monotonic_ns() - self._began - self._replay.clock)
        await self.send(flight)

    def step(self, call: Callable[[], Step]) -> Step:
        """Run one step of the engine and count its processor time."""
        before = time.thread_time_ns()
        step = call()
        self._replay.work(time.thread_time_ns() - before)
        return step

    def lateness(self) -> float:
        """Return for how many seconds bytes lay unread, the hello waited to go out, or the deadline was overdue.

        Waiting for processor time while there is nothing to do harms nobody, so the run delay is no part of it.
        """
        return (self._replay.lateness + self._hello_lateness) / _S + self._connection.overdue

    def _delayed(self) -> int:
        now = self._run_delay.read()
        return 0 if now is None or self._delay is None else now - self._delay

    def stop(self, pending: int = 0) -> Timing:
        """Return the times until now.

        Args:
            pending: bytes that were read beyond those that ended the exchange.
        """
        wall = time.monotonic_ns() - self._began
        delayed = self._delayed()
        path = self._connection.read_path()
        before = self._connection.path
        stepped = abs(clock_offset() - self._offset) > _CLOCK_STEP
        replay = self._replay
        starved = delayed + replay.lateness > _LATE
        source = self._source(missing=replay.stamps_missing)
        reordered = path.out_of_order > before.out_of_order
        stampless = self._truncated or (self._connection.stamped and replay.stamps_missing)
        server = self._server(path.min_rtt) if source is TimingSource.KERNEL else None
        return Timing(
            source=source,
            duration=self._duration(source, wall, delayed) / _S,
            wall=wall / _S,
            server=server,
            rtt=path.min_rtt,
            connect=before.rtt,
            run_delay=None if self._delay is None else delayed / _S,
            disturbed=path.retransmissions > 0 or reordered or stepped or stampless,
            server_disturbed=path.retransmissions > before.retransmissions or reordered or stepped or stampless,
            duration_bound=starved and pending > 0,
            server_bound=starved and replay.merged(path.receive_mss),
        )

    def _source(self, *, missing: bool) -> TimingSource:
        if self._connection.stamped and not missing:
            return TimingSource.KERNEL
        return TimingSource.MONOTONIC if self._delay is None else TimingSource.SCHEDSTAT

    def _duration(self, source: TimingSource, wall: int, delayed: int) -> int:
        if source is TimingSource.KERNEL:
            return self._replay.clock
        return max(0, wall - delayed) if source is TimingSource.SCHEDSTAT else wall

    def _server(self, min_rtt: float | None) -> float | None:
        if min_rtt is None:
            return None
        total = self._replay.server_time(round(min_rtt * _S))
        return None if total is None else total / _S
