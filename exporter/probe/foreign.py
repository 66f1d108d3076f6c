"""Tickets of other targets, offered to this one: does session state reach further than was meant?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from exporter.model.failure import Failure
from exporter.model.observation import Mode
from exporter.model.target import Address, Target, TlsVersion
from exporter.model.verdicts import ForeignOffer, OfferOutcome
from exporter.probe.dial import Dial, Dialled
from exporter.probe.kept import Kept
from exporter.probe.memory import Memory

_OUTCOMES = {
    Mode.RESUMED: OfferOutcome.ACCEPTED,
    Mode.REFUSED: OfferOutcome.REFUSED,
    Mode.FULL: OfferOutcome.NOT_OFFERED,
}


class Candidate(NamedTuple):
    """A session of another target, and the backend to which it may be offered."""

    issuer_target: str
    kept: Kept
    backend: Address
    version: TlsVersion


def candidates(
    target: Target, backends: Sequence[Address], memory: Memory, others: Mapping[str, Memory], now: float
) -> Iterator[Candidate]:
    """Yield for each other target and each version its newest session, for one backend, in the next round the next.

    A session works only in the context that it came from, so one of a target with other TLS settings is left out.

    Args:
        memory: this target's.
        others: the memories of the targets whose sessions are offered, by their names.
        now: by the monotonic clock, in seconds.
    """
    for name, other in others.items():
        for version in target.versions:
            kept = other.newest(version, now)
            speaking = [backend for backend in backends if not memory.skips((backend, version))]
            if kept is not None and kept.session.context.settings == target.tls and speaking:
                yield Candidate(name, kept, speaking[memory.rounds % len(speaking)], version)


async def offer(target: Target, candidate: Candidate, dial: Dial) -> ForeignOffer:
    """Offer a session of another target under this one's name."""
    name, kept, backend, version = candidate
    kept.offered += 1
    dialled = await dial(target, backend, version, kept.session)
    return ForeignOffer(name, backend, version, _outcome_of(dialled))


def _outcome_of(dialled: Dialled) -> OfferOutcome:
    if isinstance(dialled.outcome, Failure):
        return OfferOutcome.ERROR
    if dialled.outcome.verify_failure is not None:
        return OfferOutcome.REFUSED  # there was a certificate to verify, so the server made a full handshake
    return _OUTCOMES[dialled.outcome.mode]
