"""The last figures of the reference servers, and the collector that shows them."""

import statistics
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from prometheus_client.core import Metric

from exporter.metrics.assembly import assemble
from exporter.metrics.family import SECONDS_BUCKETS
from exporter.metrics.histogram import Histogram
from exporter.metrics.lines import Lines, write_rows
from exporter.metrics.reading import Reading
from exporter.metrics.row import Row, check
from exporter.model.observation import Mode
from exporter.model.yardstick import KINDS, Comparison, Kind, Pair, Pass, Sample, SignaturePrice, Transport

KEPT = 15
"""Figures that a median is drawn from: those of a few samples, so that it follows what happens to the machine."""


class KindAccount:
    """Handshakes of one kind."""

    def __init__(self) -> None:
        self.durations = {mode: Histogram(SECONDS_BUCKETS) for mode in Mode}
        self.passes: deque[Pass] = deque(maxlen=KEPT)

    def fold(self, one: Pass) -> None:
        """Take in one pass; a handshake that was not what it was meant to be tells nothing."""
        self.passes.append(one)
        for mode, histogram in self.durations.items():
            if (shake := one.find(mode)) is not None:
                histogram.observe(shake.seconds)

    def read(self, kind: Kind) -> Iterator[Reading]:
        """Yield what is known."""
        at = (kind.key_type, kind.tls)
        for mode, histogram in self.durations.items():
            yield Reading("reference_handshake_duration_seconds", (*at, mode), histogram.freeze())
            cpu = [shake.cpu for one in self.passes if (shake := one.find(mode)) is not None]
            yield from _median("reference_handshake_cpu_seconds", (*at, mode), cpu)
        resumed = [pair for one in self.passes if (pair := _pair(one, Mode.RESUMED)) is not None]
        refused = [pair for one in self.passes if (pair := _pair(one, Mode.REFUSED)) is not None]
        yield from _median("reference_resumed_to_full_cpu_ratio", at, (cpu.ratio for cpu, _ in resumed))
        yield from _median("reference_resumed_to_full_time_ratio", at, (seconds.ratio for _, seconds in resumed))
        yield from _median("reference_refused_to_full_time_ratio", at, (seconds.ratio for _, seconds in refused))
        yield Reading("reference_handshake_pairs", at, len(resumed))


class YardstickAccount:
    """Takes in sample after sample."""

    def __init__(self) -> None:
        self._kinds = {kind: KindAccount() for kind in KINDS}
        self._pairs: dict[Comparison, deque[Pair]] = {each: deque(maxlen=KEPT) for each in Comparison}
        self._prices: tuple[SignaturePrice, ...] = ()
        self._samples = 0
        self._failures = 0
        self._unconfirmed = 0
        self._restarts = 0
        self._last: tuple[float, float] | None = None

    def fold(self, sample: Sample, prices: tuple[SignaturePrice, ...], now: float) -> None:
        """Take in a sample, and what signatures cost at that time; `now` is Unix time."""
        for one in sample.passes:
            self._kinds[one.kind].fold(one)
            self._unconfirmed += sum(shake.astray for shake in one.shakes)
        self._pairs[Comparison.REQUESTS].extend(sample.requests)
        self._pairs[Comparison.REUSE].extend(sample.reuse)
        self._pairs[Comparison.TRANSFERS].extend(sample.transfers)
        self._prices = prices
        self._samples += 1
        self._last = (now, sample.cpu)

    def fail(self) -> None:
        """Count a sample that came to nothing."""
        self._failures += 1

    def count_restart(self) -> None:
        """Count an end of the servers that nobody wanted."""
        self._restarts += 1

    def read(self) -> Iterator[Reading]:
        """Yield what is known."""
        for kind, account in self._kinds.items():
            yield from account.read(kind)
        requests, reuse, transfers = (self._pairs[each] for each in Comparison)
        yield from _median("reference_tls_to_plain_request_rate_ratio", (), (pair.ratio for pair in requests))
        yield from _median("reference_kept_alive_to_new_request_rate_ratio", (), (pair.ratio for pair in reuse))
        clear, secret = (pair.base for pair in transfers), (pair.other for pair in transfers)
        yield from _median("reference_transfer_cpu_seconds", (Transport.PLAIN,), clear)
        yield from _median("reference_transfer_cpu_seconds", (Transport.TLS,), secret)
        for comparison, pairs in self._pairs.items():
            yield Reading("reference_pairs", (comparison,), len(pairs))
        for price in self._prices:
            yield Reading("reference_signature_cpu_seconds", (price.key_type, price.operation), price.cpu)
        if self._last is not None:
            yield Reading("reference_last_sample_timestamp_seconds", (), self._last[0])
            yield Reading("reference_sample_cpu_seconds", (), self._last[1])
        yield Reading("reference_samples_total", (), self._samples)
        yield Reading("reference_sample_failures_total", (), self._failures)
        yield Reading("reference_unconfirmed_handshakes_total", (), self._unconfirmed)
        yield Reading("reference_restarts_total", (), self._restarts)


class YardstickCollector:
    """Shows an account; without one, as where the reference is off, there is nothing to show."""

    def __init__(self, account: YardstickAccount | None) -> None:
        self._account = account

    def collect(self) -> Iterator[Metric]:
        """Yield the families, for any registry of prometheus_client."""
        return assemble(self.read())

    def read(self) -> Sequence[Row]:
        """Return what there is to show now."""
        return check(self._account.read()) if self._account is not None else ()

    def lines(self) -> Iterable[Lines]:
        """Return the same as lines of text."""
        return (write_rows(self.read()),)


def _pair(one: Pass, mode: Mode) -> tuple[Pair, Pair] | None:
    """Return processor times and waits of a full handshake and the one beside it; None unless both were as meant."""
    full, other = one.find(Mode.FULL), one.find(mode)
    if full is None or other is None:
        return None
    return Pair(full.cpu, other.cpu), Pair(full.seconds, other.seconds)


def _median(family: str, labels: tuple[str, ...], figures: Iterable[float]) -> Iterator[Reading]:
    if known := list(figures):
        yield Reading(family, labels, statistics.median(known))
