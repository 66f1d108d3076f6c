"""Tickets that died within their life: at the backend that issued them, or with it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from exporter.model.observation import Origin
from exporter.model.target import Address
from exporter.model.verdicts import Cause, Mechanism, OfferOutcome
from exporter.verdict.crossings import JudgedOffer
from exporter.verdict.losses import Gone, Losses, Suspicion

UNSPECIFIED = 7200.0  # seconds for which a ticket without a hint is taken to be good (RFC 5077 section 3.3)
_SURE = 12  # connections: two keys in equal shares do this by chance once in 2 ** 12 times
_DEATHS = 2
_LONG_STREAK = 24  # after so many, a single death is no sign of several keys behind the address
_KEYS_KEPT = 8
_AT_HOME = frozenset({Origin.SELF, Origin.AGED})


@dataclass(frozen=True, slots=True)
class Home:
    """One round of a backend, as far as it tells of its own tickets.

    Attributes:
        offers: all that it was offered.
        name: of the key that it is settled on, None where that is not visible.
        firm: that is beyond chance.
        past: names of the keys that it was settled on before; others may have been those of another server.
        stateful: it keeps its sessions itself, and may have dropped a single one.
        spending: each of its tickets is good for one use.
        lived: an old ticket of its present key was once accepted, so that they do live for longer than a round.
        dropping: it keeps its sessions itself, and was lately seen to drop some within their life.
        renewed: it shows another certificate or cipher than in the round before.
        mixed: several keys are known to answer there.
        now: Unix time in seconds.
    """

    offers: Sequence[JudgedOffer]
    name: bytes | None
    firm: bool
    past: tuple[bytes, ...]
    stateful: bool
    spending: bool
    lived: bool
    dropping: bool
    renewed: bool
    mixed: bool
    now: float


@dataclass(frozen=True, slots=True)
class Loss:
    """Tickets that are dead for sure, with the names of their key and of the one in its place where visible."""

    old: bytes | None = field(default=None, repr=False)
    new: bytes | None = field(default=None, repr=False)


def old_ones(offers: Iterable[JudgedOffer]) -> tuple[JudgedOffer, ...]:
    """Take the offers of a backend's own tickets from earlier rounds that were within their life."""
    return tuple(one for one in offers if one.offer.origin in _AT_HOME and not one.fresh and in_life(one))


def in_life(one: JudgedOffer) -> bool:
    """Tell whether a client would still have held the ticket that was offered."""
    lifetime = one.offer.ticket.lifetime if one.offer.ticket is not None else 0
    return one.offer.age < (lifetime or UNSPECIFIED)


def find_losses(losses: Losses, home: Home) -> tuple[Losses, tuple[Loss, ...]]:
    """Tell which tickets have died in a round, those of each key once, and what is to be remembered."""
    if home.mixed:
        return replace(losses, doubtful=(), suspicion=None, streak=0), ()
    old = old_ones(home.offers)
    losses, named = _find_named(losses, home, old)
    losses, unnamed = _find_unnamed(losses, home, old)
    return losses, (*named, *unnamed)


def _find_named(losses: Losses, home: Home, old: Sequence[JudgedOffer]) -> tuple[Losses, tuple[Loss, ...]]:
    """Find keys that the backend refuses since it is settled on another one, whose tickets it accepts."""
    alive = {one.crossing.offered_key for one in home.offers if one.crossing.outcome is OfferOutcome.ACCEPTED}
    refused = [one.crossing.offered_key for one in old if one.telling and one.crossing.cause is Cause.KEY]
    lost = tuple(key for key in losses.keys if key != home.name)
    dead = [key for key in dict.fromkeys((*losses.doubtful, *refused)) if key and key not in alive and key not in lost]
    settled = home.firm and home.name is not None and home.name in alive
    sure = [key for key in dead if settled and key != home.name and key in home.past]
    doubtful = tuple(key for key in dead if key not in sure)[-_KEYS_KEPT:]
    if sure or (lost, doubtful) != (losses.keys, losses.doubtful):
        losses = replace(losses, keys=(*lost, *sure)[-_KEYS_KEPT:], doubtful=doubtful)
    return losses, tuple(Loss(key, home.name) for key in sure)


def _find_unnamed(losses: Losses, home: Home, old: Sequence[JudgedOffer]) -> tuple[Losses, tuple[Loss, ...]]:
    """Find that all old tickets were refused while new ones are accepted, where no name tells of a key."""
    old = [one for one in old if one.crossing.cause is not Cause.KEY and not is_of_before(one, losses.since, home.now)]
    dead = [one for one in old if one.telling]
    spared = [one for one in old if one.crossing.outcome is OfferOutcome.ACCEPTED]
    fresh = [one for one in home.offers if one.offer.origin is Origin.SELF and one.fresh]
    lives = sum(one.crossing.outcome is OfferOutcome.ACCEPTED for one in (*fresh, *spared))
    before = losses.suspicion
    if before is None and not _is_suspect(dead, spared, losses.streak, home):
        broken = any(one.telling for one in (*dead, *fresh) if one.offer.origin is Origin.SELF)
        streak = 0 if broken else min(losses.streak + lives, _LONG_STREAK)
        return (losses if streak == losses.streak else replace(losses, streak=streak)), ()
    if _is_belied(dead, spared, before, home.now):
        return replace(losses, streak=0, suspicion=None), ()
    since, support = (before.since, before.support) if before is not None else (home.now, losses.streak)
    support += len(dead) + lives
    if support < _SURE or not lives:
        return replace(losses, streak=0, suspicion=Suspicion(since, support)), ()
    return replace(losses, since=home.now, streak=lives, suspicion=None), (Loss(),)


def _is_suspect(dead: Sequence[JudgedOffer], spared: Sequence[JudgedOffer], streak: int, home: Home) -> bool:
    """Tell whether a key seems to be lost: a session that its keeper dropped says nothing of the others.

    A cache that is too small drops all that are older than some age, just as if it were emptied.
    """
    if home.dropping:
        return False
    if spared or home.spending or not home.lived or not any(one.offer.origin is Origin.SELF for one in dead):
        return False
    if home.renewed and any(one.crossing.offered_key is not None for one in dead):
        return False
    tickets = {one.offer.ticket.identity if one.offer.ticket is not None else one.offer.age for one in dead}
    return len(tickets) >= _DEATHS if home.stateful else len(dead) >= _DEATHS or streak >= _LONG_STREAK


def _is_belied(
    dead: Iterable[JudgedOffer], spared: Iterable[JudgedOffer], before: Suspicion | None, now: float
) -> bool:
    """Tell whether a ticket from before the loss was accepted, or the same one both ways."""
    torn = {one.offer.origin for one in dead} & {one.offer.origin for one in spared}
    return Origin.SELF in torn or any(is_of_before(one, before.since if before else None, now) for one in spared)


def is_of_before(one: JudgedOffer, since: float | None, now: float) -> bool:
    """Tell whether an aged ticket was issued before a moment; others are of the last round."""
    return since is not None and one.offer.origin is Origin.AGED and now - one.offer.age < since


def mourn(gone: Gone, offers: Iterable[JudgedOffer], judges: Collection[Address]) -> Gone:
    """Add what became of a departed backend's tickets in one round.

    They are dead once all present backends that can be judged have refused them. Sessions that it kept itself have
    left with it, and nobody would expect otherwise.
    """
    if gone.counted or gone.mechanism is Mechanism.STATEFUL:
        return gone
    refused = set(gone.refused)
    for one in offers:
        if one.crossing.outcome is OfferOutcome.ACCEPTED:
            return replace(gone, refused=frozenset())
        if one.telling and in_life(one):
            refused.add(one.crossing.acceptor)
    dead = bool(judges) and refused.issuperset(judges)
    return replace(gone, refused=frozenset(refused), counted=dead)


def see_off(
    gone: Mapping[Address, Gone], left: Mapping[Address, Mechanism], present: Collection[Address], most: int = 64
) -> dict[Address, Gone]:
    """Add those that have left, drop those that are back, and keep the last ones."""
    known = {backend: one for backend, one in gone.items() if backend not in present}
    known.update({backend: Gone(mechanism) for backend, mechanism in left.items()})
    return dict(list(known.items())[-most:])
