"""What rounds and scrapes of many targets cost, beside prometheus_client's encoders: `python -m tests.metrics.cost`."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from prometheus_client.exposition import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector

from exporter.metrics.exposition import render
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from exporter.model.target import Expect
from exporter.model.verdicts import BackendState, BackendVerdict, Mechanism, RoundResult, TargetState, VersionVerdict
from tests.metrics.parsed import OPENMETRICS, TEXT
from tests.metrics.rounds import RECORDED, TLS12, TLS13, A, B, C, full, kept, offered, round_of, target, timing
from tests.metrics.scenes import Unheard, collector

_NEXT = {A: B, B: C, C: A}
_TURNS = 3
_MANY = 100

THEIRS: Mapping[str, Callable[[Collector], bytes]] = {
    TEXT: generate_latest,
    OPENMETRICS: lambda shown: generate_openmetrics(shown, escaping="allow-utf-8"),  # type: ignore[no-untyped-call]
}
"""Their encoders; without the search for names to be escaped, OpenMetrics is faster."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The least CPU time in seconds of several turns, from the ledger to the bytes."""

    series: int
    ours: float
    theirs: float


def fleet(targets: int) -> Ledger:
    """Return a ledger in which each target has three backends, two TLS versions and a round behind it."""
    ledger = Ledger()
    for result in rounds(targets):
        ledger.fold(result)
    return ledger


def rounds(targets: int) -> Iterator[RoundResult]:
    """Make a round of each of several targets, with five requests on each new connection."""
    known = BackendVerdict(BackendState.RESUMES, Mechanism.RFC5077, b"name", 0, key_since=1.5, keys_seen=1)
    verdict = VersionVerdict(TargetState.CONSISTENT, dict.fromkeys(_NEXT, known), groups=1, ratios=(0.5,))
    for number in range(targets):
        seen = [
            observation
            for backend, neighbour in _NEXT.items()
            for tls in (TLS12, TLS13)
            for observation in (
                full(backend, tls, times=timing(0.003 + number / 7e6), http=RECORDED, reuse=kept(*[RECORDED] * 4)),
                offered(backend, tls, times=timing(0.001 + number / 7e6)),
                offered(neighbour, tls, issuer=backend),
            )
        ]
        yield round_of(
            target(f"shop-{number}.example.com", versions=(TLS12, TLS13), expect=Expect(min_backends=3)),
            tuple(_NEXT),
            seen,
            verdicts=dict.fromkeys((TLS12, TLS13), verdict),
            supported={(backend, tls): True for backend in _NEXT for tls in (TLS12, TLS13)},
        )


def measure_fold(targets: int) -> float:
    """Measure the least CPU time in seconds of folding one round into an account that had others before."""
    ledger, made = fleet(targets), tuple(rounds(targets))

    def fold_all() -> None:
        for result in made:
            ledger.fold(result)

    return min(_cpu(fold_all) for _ in range(_TURNS)) / targets


def measure(ledger: Ledger, accept: str) -> Cost:
    """Measure both ways in turns, so that a busy machine troubles both alike."""
    faults = Faults(Unheard())
    ours, theirs = [], []
    for _ in range(_TURNS):
        shown = collector(ledger)  # one that keeps nothing yet of what it is to write
        ours.append(_cpu(partial(render, [shown], accept, faults)))
        theirs.append(_cpu(partial(THEIRS[accept], shown)))
    series = sum(len(family.samples) for family in collector(ledger).collect())
    return Cost(series, min(ours), min(theirs))


def _cpu(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return time.thread_time() - begun


def main() -> None:
    """Print the cost of a round and of both formats."""
    print(f"a round of {len(_NEXT)} backends and 2 versions: {measure_fold(_MANY) * 1e6:.0f} us of CPU")
    ledger = fleet(_MANY)
    for accept in THEIRS:
        cost = measure(ledger, accept)
        print(f"{accept}: {cost.series} series, {cost.ours:.3f} s of CPU; prometheus_client {cost.theirs:.3f} s")


if __name__ == "__main__":
    main()
