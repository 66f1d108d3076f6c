"""What a round teaches of a backend before anything is judged: its tickets, and that it speaks at all."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from exporter.model.observation import Handshake, Observation, TlsFacts
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import Mechanism
from exporter.verdict.dangers import inspect
from exporter.verdict.history import BackendMemory
from exporter.verdict.mechanism import Batch, classify, key_name, layout_in_common, pool, specimen_of

_HEADS_KEPT = 8


def learn(memory: BackendMemory, observations: Sequence[Observation]) -> BackendMemory:
    """Add one round's observations of a backend, all of one TLS version, to what is remembered of it."""
    shaken = [(seen, seen.outcome.tls) for seen in observations if isinstance(seen.outcome, Handshake)]
    if not shaken:
        return memory
    connections = [tls for _, tls in shaken]
    taken = tuple(
        specimen_of(seen.offer.ticket).head
        for seen, tls in shaken
        if tls.resumed and seen.offer is not None and seen.offer.ticket is not None
    )
    batches, accepted = pool(memory.batches, connections), memory.accepted + taken
    return replace(
        memory,
        batches=batches,
        mechanism=_mechanism(memory, batches, connections),
        accepted=accepted[-_HEADS_KEPT:],
        reusing=memory.reusing or len(set(accepted)) < len(accepted),
        spoken=True,
        signs=inspect(memory.signs, connections),
    )


def _mechanism(memory: BackendMemory, batches: tuple[Batch, ...], connections: Sequence[TlsFacts]) -> Mechanism:
    if any(tls.tickets for tls in connections):
        if _goes_on(memory, connections):
            return memory.mechanism
        return classify(batches, accepted=any(tls.resumed for tls in connections))
    old = [tls for tls in connections if tls.version is TlsVersion.TLS12]
    if any(tls.resumed and tls.offer_kind == "session_id" for tls in old):
        return Mechanism.STATEFUL
    if any(not tls.resumed and not tls.session_id for tls in old) and not any(tls.resumed for tls in old):
        return Mechanism.NO_TICKETS
    return memory.mechanism


def _goes_on(before: BackendMemory, connections: Sequence[TlsFacts]) -> bool:
    """Tell whether all tickets bear the name that the last one bore, so that nothing new is to be learnt of them."""
    if not before.batches:
        return False
    last = key_name(before.mechanism, before.batches[-1].specimens[0].head)
    return last is not None and all(
        key_name(before.mechanism, ticket.identity) == last for tls in connections for ticket in tls.tickets
    )


def lend(memories: Mapping[Address, BackendMemory], known: Collection[bytes]) -> dict[Address, BackendMemory]:
    """Name the mechanism of backends of whose tickets too little was seen, by what others show.

    Two backends of a fleet do not share a long name by chance, nor does one bear by chance the name of a key that was
    known before.
    """
    unknown = {
        backend: memory.batches[-1].specimens[0].head
        for backend, memory in memories.items()
        if memory.mechanism is Mechanism.UNKNOWN and memory.batches
    }
    if not unknown:
        return dict(memories)
    names = frozenset(known) | {
        name
        for memory in memories.values()
        if memory.batches and (name := key_name(memory.mechanism, memory.batches[-1].specimens[0].head)) is not None
    }
    found = layout_in_common(unknown) | {
        backend: mechanism
        for backend, head in unknown.items()
        for mechanism in (Mechanism.RFC5077, Mechanism.S2N)
        if key_name(mechanism, head) in names
    }
    return {
        backend: replace(memory, mechanism=found[backend]) if backend in found else memory
        for backend, memory in memories.items()
    }
