"""What the history asks of the next round."""

from collections.abc import Collection

from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import BackendState, Mechanism, OfferOutcome
from exporter.verdict.history import History, Pair

_PAIRS_PER_BACKEND = 4  # the ring and its reverse make two; the rest is left over from a ring that has changed


def standing_refusals(history: History, version: TlsVersion, present: Collection[Address]) -> tuple[Pair, ...]:
    """List the pairs (issuer, acceptor) that stand refused and must be offered again, so that a mend is seen at once.

    The order is stable, with those first that were offered longest ago; the number is bounded by the backends'.
    """
    here = frozenset(present)
    refused = [
        (standing.round, pair)
        for pair, standing in history.of(version).standing.items()
        if standing.outcome is OfferOutcome.REFUSED and here.issuperset(pair)
    ]
    return tuple(pair for _, pair in sorted(refused)[: _PAIRS_PER_BACKEND * len(here)])


def speaks(history: History, backend: Address, version: TlsVersion) -> bool | None:
    """Tell whether a backend speaks a version, as far as is remembered; None where it is not known."""
    memory = history.of(version).backends.get(backend)
    if memory is None:
        return None
    if memory.state is BackendState.NOT_SPOKEN:
        return False
    return True if memory.spoken else None


def mixed(history: History, backend: Address, version: TlsVersion) -> bool:
    """Tell whether several keys are known to answer at the backend's address."""
    memory = history.of(version).backends.get(backend)
    return memory is not None and memory.state is BackendState.MIXED


def single_use_likely(history: History, backend: Address, version: TlsVersion) -> bool:
    """Tell whether each of a backend's tickets may be good for one use alone, as far as is known.

    Only a server that keeps the session itself can see to that (RFC 8446 section 8.1).
    """
    memory = history.of(version).backends.get(backend)
    return memory is None or memory.mechanism in {Mechanism.UNKNOWN, Mechanism.STATEFUL}
