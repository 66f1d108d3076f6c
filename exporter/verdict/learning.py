"""What a round teaches of a backend before anything is judged: its tickets, and that it speaks at all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exporter.model.observation import Handshake, Observation, TlsFacts
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import Mechanism
from exporter.verdict.dangers import inspect
from exporter.verdict.history import BackendMemory
from exporter.verdict.mechanism import classify, key_name, layout_in_common, pool, specimen_of

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
    pooled = replace(
        memory,
        batches=pool(memory.batches, connections),
        accepted=(memory.accepted + taken)[-_HEADS_KEPT:],
        spoken=True,
        signs=inspect(
            memory.signs,
            (ticket for tls in connections if not tls.resumed for ticket in tls.tickets),
            (ticket for tls in connections if tls.resumed for ticket in tls.tickets),
        ),
    )
    return replace(pooled, mechanism=_mechanism(memory, pooled, connections))


def _mechanism(before: BackendMemory, memory: BackendMemory, connections: Sequence[TlsFacts]) -> Mechanism:
    if any(tls.tickets for tls in connections):
        if _goes_on(before, connections):
            return before.mechanism
        return classify(memory.batches, accepted=any(tls.resumed for tls in connections))
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


def lend(memories: Mapping[Address, BackendMemory]) -> dict[Address, BackendMemory]:
    """Name the mechanism of backends of whose tickets too little was seen, where two of them show one key's name."""
    unknown = {
        backend: memory.batches[-1].specimens[0].head
        for backend, memory in memories.items()
        if memory.mechanism is Mechanism.UNKNOWN and memory.batches
    }
    found = layout_in_common(unknown) if len(unknown) > 1 else {}
    return {
        backend: replace(memory, mechanism=found[backend]) if backend in found else memory
        for backend, memory in memories.items()
    }
