"""What the history asks of the next round."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import BackendState, Mechanism, OfferOutcome
from exporter.verdict.history import History, Pair, Standing
from exporter.verdict.mechanism import LONG_NAME

_PAIRS_PER_BACKEND = 4  # the ring and its reverse make two; the rest is left over from a ring that has changed


def standing_refusals(history: History, version: TlsVersion, present: Collection[Address]) -> tuple[Pair, ...]:
    """List the pairs (issuer, acceptor) that stand refused and must be offered again, so that a mend is seen at once.

    The order is stable, with those first that were offered longest ago; the number is bounded by the backends'.
    """
    here = frozenset(present)
    refused = [
        (standing.round, pair)
        for pair, standing in history.of(version).standing.items()
        if standing.outcome is OfferOutcome.REFUSED and here.issuperset(pair)
    ]
    return tuple(pair for _, pair in sorted(refused)[: _PAIRS_PER_BACKEND * len(here)])


def questions(
    history: History,
    version: TlsVersion,
    present: Collection[Address],
    asked: Collection[Pair],
    refused: Sequence[Pair],
) -> Iterator[Pair]:
    """Yield the pairs (issuer, acceptor) to be offered again in this round, the most important first.

    First the reverse of what was refused, which tells the direction, and a second try, without which a refusal is not
    sure; then one backend of each key group with one of each other; then what stood refused; and where names are
    hidden and backends differ, pairs of which nothing is known.

    Args:
        history: what was known before the round.
        version: the one whose pairs are asked.
        present: backends that have a fresh ticket to offer.
        asked: pairs that were offered already in this round.
        refused: those of them that were refused.
    """
    fleet = _Fleet.of(history, version, present)
    seen = set(asked)
    telling = _first_of_each(fleet, [pair for pair in refused if not fleet.keep_their_own(pair)])
    heard = {fleet.sides(pair) for pair in (*asked, *(pair[::-1] for pair in telling))}
    stood = [pair for pair in standing_refusals(history, version, present) if not fleet.keep_their_own(pair)]
    differs = bool(telling or stood)
    wanted = (
        *(pair[::-1] for pair in telling),
        *(_between_groups(fleet, heard) if differs else ()),
        *(pair for pair in stood if fleet.sides(pair) is None),
        *(_unknown_pairs(fleet) if differs else ()),
    )
    yield from (pair for pair in wanted[: len(telling)] if pair not in seen)
    seen.update(wanted[: len(telling)])
    yield from (pair for pair in telling if not fleet.is_certain(pair))
    for pair in wanted[len(telling) :]:
        if pair not in seen:
            seen.add(pair)
            yield pair


@dataclass(frozen=True, slots=True)
class _Fleet:
    """What is known of the present backends.

    Attributes:
        names: of the keys of those whose name is visible and not belied.
        keepers: those that keep their sessions themselves.
        hidden: those whose tickets are known to show no name that proves anything.
    """

    present: tuple[Address, ...]
    names: Mapping[Address, bytes]
    keepers: frozenset[Address]
    hidden: tuple[Address, ...]
    standing: Mapping[Pair, Standing]

    @staticmethod
    def of(history: History, version: TlsVersion, present: Collection[Address]) -> "_Fleet":
        """Recall them."""
        remembered = history.of(version)
        memories = {backend: memory for backend in present if (memory := remembered.backends.get(backend)) is not None}
        names = {
            backend: memory.line.name
            for backend, memory in memories.items()
            if memory.line.name is not None and len(memory.line.name) >= LONG_NAME and not memory.line.several
        }
        belied = {
            names[pair[0]]
            for pair, standing in remembered.standing.items()
            if standing.outcome is OfferOutcome.REFUSED and names.keys() >= set(pair)
            if names[pair[0]] == names[pair[1]]
        }
        names = {backend: name for backend, name in names.items() if name not in belied}
        of_state = {backend for backend, memory in memories.items() if memory.mechanism is Mechanism.STATEFUL}
        unknown = {backend for backend, memory in memories.items() if memory.mechanism is Mechanism.UNKNOWN}
        hidden = tuple(b for b in sorted(memories) if b not in names and b not in of_state | unknown)
        return _Fleet(tuple(sorted(present)), names, frozenset(of_state), hidden, remembered.standing)

    def sides(self, pair: Pair) -> tuple[bytes, bytes] | None:
        """Give the names of the two keys of a pair, None where they are not both visible."""
        issuer, acceptor = (self.names.get(backend) for backend in pair)
        return (issuer, acceptor) if issuer is not None and acceptor is not None else None

    def keep_their_own(self, pair: Pair) -> bool:
        """Tell whether two backends both keep their sessions, and are known not to do so in common."""
        return self.keepers.issuperset(pair) and self.is_certain(pair)

    def is_certain(self, pair: Pair) -> bool:
        """Tell whether a pair stood refused beyond doubt, so that one more refusal needs no second try."""
        standing = self.standing.get(pair)
        return standing is not None and standing.outcome is OfferOutcome.REFUSED and standing.refusals > 1


def _first_of_each(fleet: _Fleet, refused: Sequence[Pair]) -> list[Pair]:
    """Take one pair for each two keys, where names show which they are."""
    found: dict[tuple[bytes, bytes] | Pair, Pair] = {}
    for pair in refused:
        sides = fleet.sides(pair)
        # Two of the same name whose tickets were refused now are told apart by nothing but themselves.
        found.setdefault(pair if sides is None or sides[0] == sides[1] else sides, pair)
    return list(found.values())


def _between_groups(fleet: _Fleet, heard: Collection[tuple[bytes, bytes] | None]) -> list[Pair]:
    """Pair one backend of each key group with one of each other, unless such a pair was asked already."""
    speakers = {name: backend for backend in reversed(fleet.present) if (name := fleet.names.get(backend)) is not None}
    return [
        (speakers[one], speakers[other])
        for one, other in permutations(sorted(speakers, key=lambda name: speakers[name]), 2)
        if (one, other) not in heard
    ]


def _unknown_pairs(fleet: _Fleet) -> Iterator[Pair]:
    """Give the pairs of backends with hidden names that do not stand either way."""
    return (pair for pair in permutations(fleet.hidden, 2) if pair not in fleet.standing)


def speaks(history: History, backend: Address, version: TlsVersion) -> bool | None:
    """Tell whether a backend speaks a version, as far as is remembered; None where it is not known."""
    memory = history.of(version).backends.get(backend)
    if memory is None:
        return None
    if memory.state is BackendState.NOT_SPOKEN:
        return False
    return True if memory.spoken else None


def mixed(history: History, backend: Address, version: TlsVersion) -> bool:
    """Tell whether several keys are known to answer at the backend's address."""
    memory = history.of(version).backends.get(backend)
    return memory is not None and memory.state is BackendState.MIXED


def single_use_likely(history: History, backend: Address, version: TlsVersion) -> bool:
    """Tell whether each of a backend's tickets may be good for one use alone, as far as is known.

    Only a server that keeps the session itself can see to that (RFC 8446 section 8.1).
    """
    memory = history.of(version).backends.get(backend)
    return memory is None or memory.mechanism in {Mechanism.UNKNOWN, Mechanism.STATEFUL}
