"""What resuming costs, against a full handshake right beside it."""

from collections import defaultdict
from collections.abc import Iterable

from exporter.model.observation import Handshake, Mode, Observation, Timing
from exporter.model.target import Address


def ratios_of(observations: Iterable[Observation]) -> tuple[float, ...]:
    """Give resumed over full duration of each adjacent pair, for the observations of one TLS version.

    A pair counts if it has exactly one full and one resumed handshake, both undisturbed, neither an upper bound, and
    both timed by the same source.
    """
    pairs: defaultdict[tuple[Address, int], list[Handshake]] = defaultdict(list)
    for seen in observations:
        if seen.pair is not None and isinstance(seen.outcome, Handshake):
            pairs[seen.backend, seen.pair].append(seen.outcome)
    ratios = (_ratio(handshakes) for handshakes in pairs.values())
    return tuple(ratio for ratio in ratios if ratio is not None)


def _ratio(handshakes: list[Handshake]) -> float | None:
    full = [shaken.timing for shaken in handshakes if shaken.mode is Mode.FULL]
    resumed = [shaken.timing for shaken in handshakes if shaken.mode is Mode.RESUMED]
    if len(full) != 1 or len(resumed) != 1 or not _comparable(full[0], resumed[0]):
        return None
    return resumed[0].duration / full[0].duration


def _comparable(full: Timing, resumed: Timing) -> bool:
    spoilt = full.disturbed or resumed.disturbed or full.duration_bound or resumed.duration_bound
    return not spoilt and full.source is resumed.source and full.duration > 0
