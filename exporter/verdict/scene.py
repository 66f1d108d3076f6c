"""One TLS version's part of a round, with all that is read off it before anything is concluded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exporter.model.observation import Observation
from exporter.model.target import Address, TlsVersion
from exporter.verdict.crossings import JudgedOffer, judge_offers
from exporter.verdict.history import BackendMemory, VersionHistory
from exporter.verdict.keys import Keys, read_keys
from exporter.verdict.learning import learn, lend
from exporter.verdict.rules import Rules
from exporter.verdict.speech import Speech


@dataclass(frozen=True, slots=True)
class VersionRound:
    """What a round brought for one TLS version.

    Attributes:
        backends: all that are present, in order.
        observations: those of this version and these backends, in the order of their dials.
        number: the round's.
        now: Unix time in seconds.
    """

    version: TlsVersion
    backends: tuple[Address, ...]
    observations: tuple[Observation, ...]
    speech: Speech
    number: int
    now: float
    rules: Rules


@dataclass(frozen=True, slots=True)
class Scene:
    """A round before it is judged.

    Attributes:
        seen: the observations of each backend.
        taken: the offers that were made to each backend.
        issued: names of the keys that each backend encrypted with, one for each connection that showed one.
    """

    this: VersionRound
    history: VersionHistory
    keys: Keys
    offers: tuple[JudgedOffer, ...]
    seen: Mapping[Address, Sequence[Observation]]
    taken: Mapping[Address, Sequence[JudgedOffer]]
    issued: Mapping[Address, tuple[bytes, ...]]


def look(this: VersionRound, history: VersionHistory) -> tuple[Scene, dict[Address, BackendMemory]]:
    """Read a round's tickets and offers; return them with what each backend is remembered by after them."""
    seen: dict[Address, list[Observation]] = {backend: [] for backend in this.backends}
    for one in this.observations:
        seen[one.backend].append(one)
    learnt = {backend: learn(_recall(this, history, backend), seen[backend]) for backend in this.backends}
    memories = lend(learnt, history.known)
    mechanisms = {backend: gone.mechanism for backend, gone in history.gone.items()}
    mechanisms.update({backend: memory.mechanism for backend, memory in memories.items()})
    pools = {backend: memory.batches for backend, memory in memories.items()}
    keys = read_keys(pools, mechanisms, history.known)
    offers = judge_offers(this.observations, keys, history.backends)
    taken: dict[Address, list[JudgedOffer]] = {backend: [] for backend in this.backends}
    for offer in offers:
        taken[offer.crossing.acceptor].append(offer)
    issued = {
        backend: tuple(name for one in ours if (name := keys.issued(one)) is not None) for backend, ours in seen.items()
    }
    return Scene(this, history, keys, offers, seen, taken, issued), memories


def _recall(this: VersionRound, history: VersionHistory, backend: Address) -> BackendMemory:
    found = history.backends.get(backend)
    if found is not None:
        return found
    stranger = bool(history.backends or history.book) and backend not in history.book
    return BackendMemory(newcomer=stranger, born=this.number)
