"""What is counted of HTTP requests, and of the connections that carry them."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from exporter.metrics.family import SECONDS_BUCKETS
from exporter.metrics.histogram import Histogram
from exporter.metrics.labels import Connection
from exporter.model.connections import End, Farewell, HeldEnd, HttpAnswer, RequestPair, Reuse
from exporter.model.failure import Failure, Stage
from exporter.model.observation import Handshake
from exporter.model.target import IdleScope, Target

PAIRS_KEPT = 101
"""Ratios of which the median is shown: an odd number, so that the median is one that was measured."""


def keep_ratios() -> deque[float]:
    """Make room for the ratios of the last pairs."""
    return deque(maxlen=PAIRS_KEPT)


def middle(ratios: Iterable[float]) -> float | None:
    """Return the median, None while there is none."""
    kept = tuple(ratios)
    return median(kept) if kept else None


def asks(target: Target) -> bool:
    """Tell whether HTTP requests are made."""
    return target.http.enabled and target.starttls is None


def asks_again(target: Target) -> bool:
    """Tell whether further requests are made on a connection."""
    return asks(target) and target.probe.requests > 1


def holds(target: Target) -> bool:
    """Tell whether connections are held idle."""
    return asks(target) and target.probe.idle is not IdleScope.OFF


@dataclass(slots=True)
class BackendTraffic:
    """One backend's requests.

    Attributes:
        attempts: further requests that were wanted.
        reuses: those that were answered.
        announced: seconds for which the backend says that it keeps idle connections.
        first_record, largest_record: bytes.
    """

    requests: dict[Connection, int] = field(default_factory=lambda: dict.fromkeys(Connection, 0))
    attempts: int = 0
    reuses: int = 0
    announced: int | None = None
    first_record: int | None = None
    largest_record: int | None = None

    def begin_round(self) -> None:
        """Forget what the last round showed; sizes of records stay, since the large ones are seen now and then only."""
        self.announced = None

    def note(self, handshake: Handshake, *, large: bool) -> None:
        """Count the requests of a connection that carried one at least.

        Args:
            large: a larger body is asked for now and then, so that no other answer tells of the largest record.
        """
        self.requests[Connection.NEW] += 1
        answers = [handshake.http] if isinstance(handshake.http, HttpAnswer) else []
        if answers and answers[0].records is not None:
            self.first_record = answers[0].records.first
        if handshake.reuse is not None:
            self._note_reuse(handshake.reuse)
            answers += handshake.reuse.answers
        for answer in answers:
            if answer.announced.timeout is not None:
                self.announced = answer.announced.timeout
        if not large:
            self._measure(answers)

    def _note_reuse(self, reuse: Reuse) -> None:
        broken = reuse.failure is not None
        self.requests[Connection.REUSED] += len(reuse.answers) + broken + (reuse.large is not None)
        self.attempts += reuse.attempts - _is_ours(reuse.failure)
        self.reuses += len(reuse.answers)
        if isinstance(reuse.large, HttpAnswer):
            self._measure([reuse.large])

    def _measure(self, answers: Iterable[HttpAnswer]) -> None:
        sizes = [answer.records.largest for answer in answers if answer.records is not None]
        if sizes:
            self.largest_record = max(sizes)


def _is_ours(failure: Failure | None) -> bool:
    """Tell whether a request broke by our own doing, so that it was no attempt at anything."""
    return failure is not None and failure.stage is Stage.PROBE


@dataclass(slots=True)
class TargetTraffic:
    """One target's requests over all its backends, such as outlive them.

    Attributes:
        ratios: of request times on a new connection over those on a kept one, of the last pairs.
    """

    durations: dict[Connection, Histogram] = field(
        default_factory=lambda: {connection: Histogram(SECONDS_BUCKETS) for connection in Connection}
    )
    ends: dict[End, int] = field(default_factory=lambda: dict.fromkeys(End, 0))
    farewells: dict[Farewell, int] = field(default_factory=lambda: dict.fromkeys(Farewell, 0))
    ratios: deque[float] = field(default_factory=keep_ratios)

    def note(self, handshake: Handshake) -> None:
        """Count how a connection ended, and observe the times of its requests."""
        self._observe(Connection.NEW, handshake.http)
        if handshake.reuse is not None:
            self.ends[handshake.reuse.end] += 1
            for answer in handshake.reuse.answers:
                self._observe(Connection.REUSED, answer)

    def _observe(self, connection: Connection, answer: HttpAnswer | Failure | None) -> None:
        if isinstance(answer, HttpAnswer) and answer.unexpected is None and not answer.disturbed:
            self.durations[connection].observe(answer.duration)

    def note_held(self, ends: Iterable[HeldEnd]) -> None:
        """Count how held connections ended, and how backends that left parted with theirs."""
        for held in ends:
            self.ends[held.end] += 1
            if held.farewell is not None:
                self.farewells[held.farewell] += 1

    def note_pairs(self, pairs: Iterable[RequestPair]) -> None:
        """Keep the ratios of new to kept connections."""
        self.ratios.extend(ratio for pair in pairs if (ratio := pair.ratio) is not None)
