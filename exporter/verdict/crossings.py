"""Offers, judged one by one, and how the pairs of backends stand after them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from exporter.model.observation import Handshake, Observation, Offer, Origin, TlsFacts
from exporter.model.target import Address
from exporter.model.verdicts import Cause, Crossing, Mechanism, OfferOutcome
from exporter.verdict.causes import cause_of
from exporter.verdict.history import BackendMemory, Pair, Standing
from exporter.verdict.keys import Keys
from exporter.verdict.mechanism import LONG_NAME, specimen_of
from exporter.verdict.offers import outcome_of

_OF_THE_TICKET = frozenset({Cause.EXPIRED, Cause.SINGLE_USE})
"""Causes that lie in the one ticket and say nothing about the backends."""
_STRANGER = BackendMemory()


@dataclass(frozen=True, slots=True)
class JudgedOffer:
    """An offer and what became of it.

    Attributes:
        fresh: the ticket had been issued in the same round.
    """

    observation: Observation
    offer: Offer
    crossing: Crossing
    fresh: bool

    @property
    def telling(self) -> bool:
        """Whether it is a refusal that says something about the backends."""
        return self.crossing.outcome is OfferOutcome.REFUSED and self.crossing.cause not in _OF_THE_TICKET


@dataclass(frozen=True, slots=True)
class Crossed:
    """Which pairs (issuer, acceptor) stand accepted, which stand refused beyond doubt, and which may be refused."""

    accepted: frozenset[Pair] = frozenset()
    refused: frozenset[Pair] = frozenset()
    doubted: frozenset[Pair] = frozenset()

    def either_refused(self, one: Address, other: Address) -> bool:
        """Tell whether either of two backends refuses the other's tickets."""
        return (one, other) in self.refused or (other, one) in self.refused

    def among(self, backends: Collection[Address]) -> "Crossed":
        """Leave out all pairs that are not of these backends."""
        here = frozenset(backends)
        return Crossed(
            frozenset(pair for pair in self.accepted if here.issuperset(pair)),
            frozenset(pair for pair in self.refused if here.issuperset(pair)),
            frozenset(pair for pair in self.doubted if here.issuperset(pair)),
        )


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What one round's offers are judged against."""

    keys: Keys
    full: Mapping[Address, TlsFacts]
    issued: frozenset[bytes] = field(repr=False)
    taking: frozenset[Address]


def judge_offers(
    observations: Sequence[Observation], keys: Keys, memories: Mapping[Address, BackendMemory]
) -> tuple[JudgedOffer, ...]:
    """Judge all offers of a round, for one TLS version; the observations stand in the order of their dials."""
    around = _survey(observations, keys)
    taken: set[tuple[Address, bytes]] = set()
    judged: list[JudgedOffer] = []
    for seen in observations:
        if seen.offer is not None:
            ticket = seen.offer.ticket
            spent = False
            if ticket is not None and isinstance(seen.outcome, Handshake):
                head = specimen_of(ticket).head
                if seen.outcome.tls.resumed:
                    taken.add((seen.backend, head))
                elif seen.backend in around.taking:
                    memory = memories.get(seen.backend, _STRANGER)
                    spent = not memory.reusing and ((seen.backend, head) in taken or head in memory.accepted)
            crossing = _cross(seen, seen.offer, around, spent=spent)
            fresh = seen.offer.fresh if ticket is None else ticket.identity in around.issued
            judged.append(JudgedOffer(seen, seen.offer, crossing, fresh))
    return tuple(judged)


def _survey(observations: Sequence[Observation], keys: Keys) -> _Surroundings:
    shaken = [(seen.backend, seen.outcome.tls) for seen in observations if isinstance(seen.outcome, Handshake)]
    return _Surroundings(
        keys=keys,
        full={backend: tls for backend, tls in shaken if not tls.resumed},
        issued=frozenset(ticket.identity for _, tls in shaken for ticket in tls.tickets),
        taking=frozenset(backend for backend, tls in shaken if tls.resumed),
    )


def _cross(seen: Observation, offer: Offer, around: _Surroundings, *, spent: bool) -> Crossing:
    outcome = outcome_of(seen)
    offered_key = around.keys.name(offer.issuer, offer.ticket)
    issued_key = around.keys.issued(seen)
    cause = None
    if outcome is OfferOutcome.REFUSED and isinstance(seen.outcome, Handshake):
        # Where the key has changed or may have, a ticket that was taken before has lost its key.
        stateful = around.keys.mechanisms.get(seen.backend) is Mechanism.STATEFUL
        steady = stateful or (offered_key is not None and offered_key == issued_key)
        issuer = around.full.get(offer.issuer)
        keys = (offered_key, issued_key)
        cause = cause_of(offer, seen.outcome.tls, issuer, keys=keys, spent=spent and steady)
    return Crossing(offer.issuer, seen.backend, outcome, offered_key, issued_key, cause)


def stand(
    judged: Iterable[JudgedOffer], before: Mapping[Pair, Standing], keys: Keys, *, now: int, hold: int
) -> dict[Pair, Standing]:
    """Tell how pairs of backends stand after a round: what it showed, else what the last `hold` rounds did.

    A ticket that was accepted at the second try proves that it can be, so it outweighs refusals of the same round.
    """
    standing = {pair: old for pair, old in before.items() if now - old.round <= hold and not _outdated(pair, old, keys)}
    offers: defaultdict[Pair, list[JudgedOffer]] = defaultdict(list)
    for one in judged:
        if one.offer.origin is Origin.PEER:
            offers[one.crossing.issuer, one.crossing.acceptor].append(one)
    for pair, tries in offers.items():
        if (shown := _show(tries, standing.get(pair), keys, now)) is not None:
            standing[pair] = shown
    return standing


def _show(tries: Sequence[JudgedOffer], before: Standing | None, keys: Keys, now: int) -> Standing | None:
    for one in tries:
        if one.crossing.outcome is OfferOutcome.ACCEPTED:
            return Standing(OfferOutcome.ACCEPTED, now, offered_key=one.crossing.offered_key)
    refusals = [one.crossing for one in tries if one.telling and not _is_past(one.crossing, keys)]
    if not refusals:
        return None
    earlier = before.refusals if before is not None else 0
    last = refusals[-1]
    acceptor_key = keys.current.get(last.acceptor)
    return Standing(OfferOutcome.REFUSED, now, last.cause, last.offered_key, earlier + len(refusals), acceptor_key)


def _is_past(crossing: Crossing, keys: Keys) -> bool:
    """Tell whether the issuer has changed its key since it issued the ticket, as by a reload amid a round."""
    issuer = keys.current.get(crossing.issuer)
    return crossing.offered_key is not None and issuer is not None and crossing.offered_key != issuer


def _outdated(pair: Pair, old: Standing, keys: Keys) -> bool:
    """Tell whether the keys have changed so that what an offer once showed says nothing about the next one."""
    issuer, acceptor = (keys.current.get(backend) for backend in pair)
    if issuer is None:
        return False
    if old.outcome is OfferOutcome.ACCEPTED:
        return old.offered_key is not None and old.offered_key != issuer
    if issuer != acceptor or len(issuer) < LONG_NAME:
        return False
    # Of two keys with one name the refusal says so; of one that either of them has left it says nothing.
    return old.cause is Cause.KEY or (old.offered_key, old.acceptor_key) != (issuer, acceptor)


def newly_parted(
    before: Mapping[Pair, Standing], after: Mapping[Pair, Standing], keys: Keys, recent: Collection[Address]
) -> frozenset[Address]:
    """Find backends whose hidden key seems to be another than before, or than that of those who were there before.

    Args:
        before: how pairs stood before a round.
        after: how they stand after it.
        keys: names of keys; where those of both backends are visible, they tell by themselves.
        recent: backends that have joined in the last rounds.
    """
    parted = [
        pair
        for pair, standing in after.items()
        if standing.outcome is OfferOutcome.REFUSED and not keys.current.keys() >= set(pair)
    ]
    turned = {pair[0] for pair in parted if pair in before and before[pair].outcome is OfferOutcome.ACCEPTED}
    return frozenset(turned | {backend for pair in parted for backend in pair if backend in recent})


def crossed(standing: Mapping[Pair, Standing]) -> Crossed:
    """Tell what is beyond doubt among the standing crossings.

    One refusal may be a backend's restart between two connections, so it takes two between the same two backends,
    in either direction: a second try, the reverse offer, or the next round.
    """
    refusals = {pair: old.refusals for pair, old in standing.items() if old.outcome is OfferOutcome.REFUSED}
    certain = frozenset(pair for pair, count in refusals.items() if count + refusals.get(pair[::-1], 0) > 1)
    accepted = frozenset(pair for pair, old in standing.items() if old.outcome is OfferOutcome.ACCEPTED)
    return Crossed(accepted, certain, frozenset(refusals) - certain)
