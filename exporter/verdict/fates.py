"""What became of each backend's tickets in a round: which have died, how old they grew, how many keys answer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from exporter.model.observation import Handshake, Observation, Origin
from exporter.model.target import Address
from exporter.model.verdicts import BackendState, KeyEvent, KeyEventKind, Mechanism, OfferOutcome, Survival
from exporter.verdict.breaks import Home, Loss, find_losses, is_of_before, mourn, old_ones, see_off
from exporter.verdict.census import Samples, sample
from exporter.verdict.changes import Changes
from exporter.verdict.crossings import JudgedOffer
from exporter.verdict.dangers import clear
from exporter.verdict.history import BackendMemory
from exporter.verdict.losses import Gone
from exporter.verdict.scene import Scene
from exporter.verdict.survival import outlive

_DROPPING = 6  # rounds


@dataclass(frozen=True, slots=True)
class Fates:
    """What a round showed of old tickets.

    Attributes:
        memories: with what is to be remembered of them.
        breaks: tickets that died within their life, each key's told once.
        turning: backends whose hidden key seems to have changed.
    """

    memories: Mapping[Address, BackendMemory]
    breaks: tuple[KeyEvent, ...]
    turning: frozenset[Address]


def tell_fates(scene: Scene, changes: Changes, mixed: Collection[Address]) -> Fates:
    """Tell what became of the tickets that backends were offered back."""
    memories: dict[Address, BackendMemory] = {}
    breaks: list[KeyEvent] = []
    turning: set[Address] = set()
    for backend, memory in changes.memories.items():
        now_mixed = backend in mixed
        seen = _seen_last(scene.seen[backend])
        home = _home(scene, backend, memory, mixed=now_mixed, renewed=memory.look not in {None, seen} and bool(seen))
        losses, lost = find_losses(memory.losses, home)
        breaks += [KeyEvent(KeyEventKind.BREAK, backend, loss.old, loss.new) for loss in lost]
        if losses.suspicion is not None or Loss() in lost:
            turning.add(backend)
        anew = bool(lost) or (backend in changes.settled and not now_mixed and not memory.line.several)
        doubted = bool(lost or losses.doubtful or losses.suspicion)
        own = [one for one in old_ones(home.offers) if not is_of_before(one, losses.since, home.now)]
        dropped = home.stateful and not doubted and any(one.telling for one in own)
        memories[backend] = replace(
            memory,
            losses=losses,
            dropped=scene.this.number if dropped else memory.dropped,
            look=seen or memory.look,
            survival=outlive(
                Survival() if anew else memory.survival,
                own,
                hint=memory.signs.lifetime,
                explained=doubted or now_mixed or home.spending,
            ),
            samples=_sample(scene, backend, Samples() if anew else memory.samples, anew=anew),
            signs=clear(memory.signs, memory.line.name) if backend in changes.settled else memory.signs,
        )
    return Fates(memories, tuple(breaks), frozenset(turning))


def _home(scene: Scene, backend: Address, memory: BackendMemory, *, mixed: bool, renewed: bool) -> Home:
    return Home(
        offers=scene.taken[backend],
        name=memory.line.name,
        firm=memory.line.firm,
        past=memory.line.past,
        stateful=memory.mechanism is Mechanism.STATEFUL,
        spending=memory.spending,
        lived=memory.survival.oldest_accepted is not None,
        dropping=memory.dropped is not None and scene.this.number - memory.dropped <= _DROPPING,
        renewed=renewed,
        mixed=mixed,
        now=scene.this.now,
    )


def _seen_last(observations: Sequence[Observation]) -> tuple[bytes, str] | None:
    """Give what the backend's last full handshake looked like."""
    for seen in reversed(observations):
        if isinstance(seen.outcome, Handshake) and seen.outcome.tls.certificate is not None:
            return seen.outcome.tls.certificate.fingerprint, seen.outcome.tls.cipher
    return None


def _sample(scene: Scene, backend: Address, samples: Samples, *, anew: bool) -> Samples:
    """Take the round's independent samples; after a change of key, only of the new one."""
    full = next((seen for seen in scene.seen[backend] if seen.offer is None), None)
    name = scene.keys.issued(full) if full is not None else None
    answered = [
        one.crossing.outcome is OfferOutcome.ACCEPTED
        for one in scene.taken[backend]
        if one.offer.origin is Origin.SELF and not one.fresh
        if one.crossing.outcome is OfferOutcome.ACCEPTED or one.telling
    ]
    return sample(samples, name, hit=answered[0] if answered and not anew else None)


def see_departed(
    scene: Scene, states: Mapping[Address, BackendState]
) -> tuple[dict[Address, Gone], tuple[KeyEvent, ...]]:
    """Tell what became of the tickets of backends that have left, each backend's death told once.

    Those are asked that resume at all, and with one key.
    """
    left = {
        backend: memory.mechanism for backend, memory in scene.history.backends.items() if backend not in scene.taken
    }
    gone = see_off(scene.history.gone, left, scene.taken.keys())
    judges = {backend for backend, state in states.items() if state in {BackendState.RESUMES, BackendState.STATEFUL}}
    offers: dict[Address, list[JudgedOffer]] = {backend: [] for backend in gone}
    for one in scene.offers:
        if one.offer.origin is Origin.DEPARTED and one.crossing.issuer in offers:
            offers[one.crossing.issuer].append(one)
    after = {backend: mourn(one, offers[backend], judges) if offers[backend] else one for backend, one in gone.items()}
    breaks = [
        KeyEvent(KeyEventKind.BREAK, backend, next((o.crossing.offered_key for o in offers[backend]), None))
        for backend, one in after.items()
        if one.counted and not gone[backend].counted
    ]
    return after, tuple(breaks)
