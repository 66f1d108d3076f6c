"""What a round teaches of a backend before anything is judged: its tickets, and that it speaks at all."""

from collections.abc import Sequence
from dataclasses import replace

from exporter.model.observation import Handshake, Observation, TlsFacts
from exporter.model.target import TlsVersion
from exporter.model.verdicts import Mechanism
from exporter.verdict.history import BackendMemory
from exporter.verdict.mechanism import classify, pool, specimen_of

_HEADS_KEPT = 8


def learn(memory: BackendMemory, observations: Sequence[Observation]) -> BackendMemory:
    """Add one round's observations of a backend, all of one TLS version, to what is remembered of it."""
    shaken = [(seen, seen.outcome.tls) for seen in observations if isinstance(seen.outcome, Handshake)]
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
        spoken=memory.spoken or bool(shaken),
    )
    return replace(pooled, mechanism=_mechanism(pooled, connections))


def _mechanism(memory: BackendMemory, connections: Sequence[TlsFacts]) -> Mechanism:
    if any(tls.tickets for tls in connections):
        return classify(memory.batches, accepted=any(tls.resumed for tls in connections))
    old = [tls for tls in connections if tls.version is TlsVersion.TLS12]
    if any(tls.resumed and tls.offer_kind == "session_id" for tls in old):
        return Mechanism.STATEFUL
    if any(not tls.resumed and not tls.session_id for tls in old) and not any(tls.resumed for tls in old):
        return Mechanism.NO_TICKETS
    return memory.mechanism
