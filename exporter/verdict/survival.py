"""How long tickets really live."""

from collections.abc import Iterable

from exporter.model.verdicts import OfferOutcome, Survival
from exporter.verdict.crossings import JudgedOffer


def outlive(before: Survival, old: Iterable[JudgedOffer], *, hint: int, explained: bool) -> Survival:
    """Add what became of a backend's old tickets at home in one round.

    Args:
        before: what was known.
        old: the offers.
        hint: the lifetime that the server promises now, in seconds.
        explained: a change of key or several keys explain what was refused.
    """
    accepted, refused = before.oldest_accepted, before.youngest_refused
    for one in old:
        age = one.offer.age
        if one.crossing.outcome is OfferOutcome.ACCEPTED:
            accepted = age if accepted is None else max(accepted, age)
        elif one.telling and not explained and one.crossing.issued_key == one.crossing.offered_key:
            refused = age if refused is None else min(refused, age)
    return Survival(accepted, refused, hint)
