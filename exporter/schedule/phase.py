"""When a target's turn is: pure whole-number arithmetic in nanoseconds, since a float may tick twice."""

import hashlib


def phase_of(name: str, span_ns: int) -> int:
    """Return where in a span of `span_ns` nanoseconds the target of this name has its place.

    The same name has the same place in every process, spread evenly over all names; a shorter span keeps their order.
    """
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) * span_ns >> 64


def next_due(now_ns: int, interval_ns: int, phase_ns: int) -> int:
    """Return the first tick after `now_ns`: ticks lie at the phase plus each whole multiple of the interval."""
    return now_ns + interval_ns - (now_ns - phase_ns) % interval_ns
