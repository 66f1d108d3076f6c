"""How many ticket keys answer at one address, from samples that are independent of each other."""

from dataclasses import dataclass, field
from math import sqrt

from exporter.model.verdicts import Census

_KEPT = 64
_Z = 1.96  # 95 % of a normal distribution


@dataclass(frozen=True, slots=True)
class Samples:
    """The last samples of one backend, one of each kind a round.

    Attributes:
        names: of the key of the round's first full handshake.
        hits: whether the first offer of a ticket that was kept from an earlier full handshake was accepted.
    """

    names: tuple[bytes, ...] = field(default=(), repr=False)
    hits: tuple[bool, ...] = ()


def sample(samples: Samples, name: bytes | None, *, hit: bool | None) -> Samples:
    """Add one round's samples, as far as there were any."""
    names = samples.names if name is None else (*samples.names[1 - _KEPT :], name)
    hits = samples.hits if hit is None else (*samples.hits[1 - _KEPT :], hit)
    return Samples(names, hits)


def count(samples: Samples) -> Census | None:
    """Draw the census; None while there is nothing to draw it from.

    A ticket is accepted where it lands on the share p of servers that has its key. Averaged over tickets, that is the
    sum of all p squared, whose inverse is the number of keys if all have equal shares.
    """
    offers, hits = len(samples.hits), sum(samples.hits)
    if not offers and not samples.names:
        return None
    low, high = wilson(hits, offers)
    return Census(
        keys=len(set(samples.names)),
        offers=offers,
        hits=hits,
        effective=offers / hits if hits else None,
        effective_low=1 / high,
        effective_high=1 / low if low > 0 else None,
    )


def wilson(hits: int, offers: int) -> tuple[float, float]:
    """Give the 95 % interval of a rate, by Wilson's score; (0, 1) without a sample."""
    if not offers:
        return 0.0, 1.0
    rate, square = hits / offers, _Z * _Z / offers
    middle = (rate + square / 2) / (1 + square)
    half = _Z / (1 + square) * sqrt(rate * (1 - rate) / offers + square / (4 * offers))
    # At either end the formula gives the rate itself, but for rounding.
    return (0.0 if hits == 0 else middle - half), (1.0 if hits == offers else middle + half)


def keys_of(census: Census | None) -> int | None:
    """Tell how many keys a census says there are; None where it claims nothing."""
    if census is None:
        return None
    if census.keys:
        return census.keys
    if census.effective is None or census.effective_low is None or census.effective_low <= 1:
        return None
    return max(2, round(census.effective))
