"""How the backends of a target stand to each other, for one TLS version."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from exporter.model.target import Address
from exporter.model.verdicts import BackendState, TargetState
from exporter.verdict.backends import BAD, GOOD
from exporter.verdict.crossings import Crossed
from exporter.verdict.groups import Cell, Grouping, group, partition, tell_apart
from exporter.verdict.history import Numbers


@dataclass(frozen=True, slots=True)
class Comparison:
    """How backends stand to each other.

    Attributes:
        judged: how many of them the state was drawn from.
        odd: those that stand against the rest.
    """

    state: TargetState
    judged: int
    odd: tuple[Address, ...]
    grouping: Grouping


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is to be kept in mind when backends are compared.

    Attributes:
        absent: backends that resumed of late and cannot be asked now; they tell what most of the fleet is like.
        excused: a key has changed so lately that backends may differ.
    """

    absent: frozenset[Address] = frozenset()
    excused: bool = False


_ORDINARY = Circumstances()
_WITH_ODD = frozenset({TargetState.UNEVEN, TargetState.MIXED, TargetState.ONE_WAY, TargetState.SPLIT})


def compare(
    states: Mapping[Address, BackendState],
    names: Mapping[Address, bytes],
    crossed: Crossed,
    *,
    numbers: Numbers,
    last: Mapping[Address, int],
    circumstances: Circumstances = _ORDINARY,
) -> Comparison:
    """Compare the backends that resume, and say how all stand.

    Args:
        states: those of all backends.
        names: of the keys with which they encrypt, where visible.
        crossed: who accepts and who refuses whose tickets.
        numbers: those that keys had so far.
        last: the group in which each backend was last.
        circumstances: what the backends themselves do not show.
    """
    good = frozenset(backend for backend, state in states.items() if state in GOOD)
    all_names, all_crossed = names, crossed
    names = {backend: name for backend, name in names.items() if backend in good}
    crossed = crossed.among(good)
    cells = partition(good, names, crossed)
    state = share(states, names, crossed, excused=circumstances.excused)
    odd: tuple[Address, ...] = ()
    if state in _WITH_ODD:
        votes = _Votes.of(good.union(circumstances.absent), all_names, all_crossed)
        odd = find_odd(state, states, votes.cells, votes.told, votes.crossed)
    keepers = frozenset(backend for backend, found in states.items() if found is BackendState.STATEFUL)
    keyed = [cell - keepers for cell in cells if not cell <= keepers]
    grouping = group(keyed, names, crossed, numbers=numbers, last=last)
    if BackendState.MIXED in states.values():
        grouping = replace(grouping, count=None)  # a mixed backend has several keys, and one name at a time
    odd = tuple(backend for backend in odd if backend not in circumstances.absent)
    return Comparison(state, sum(found in GOOD | BAD for found in states.values()), odd, grouping)


@dataclass(frozen=True, slots=True)
class _Votes:
    """Who belongs together, of all that have a say in what most of the fleet is like."""

    cells: tuple[Cell, ...]
    told: tuple[Cell, ...]
    crossed: Crossed

    @staticmethod
    def of(voters: Collection[Address], names: Mapping[Address, bytes], crossed: Crossed) -> "_Votes":
        """Part them."""
        names = {backend: name for backend, name in names.items() if backend in voters}
        crossed = crossed.among(voters)
        cells = partition(voters, names, crossed)
        return _Votes(cells, tell_apart(cells, names, crossed), crossed)


def share(
    states: Mapping[Address, BackendState], names: Mapping[Address, bytes], crossed: Crossed, *, excused: bool = False
) -> TargetState:
    """Draw the state of a target from its backends, leaving out those that cannot be judged; the first that holds.

    Names and crossings are those of the backends that resume.
    """
    judged = {backend: state for backend, state in states.items() if state in GOOD | BAD}
    good = {backend for backend, state in judged.items() if state in GOOD}
    if not judged:
        return TargetState.UNKNOWN
    if not good:
        unpaid = {BackendState.REFUSES, BackendState.KILLS}.intersection(judged.values())
        return TargetState.BROKEN if unpaid else TargetState.NO_TICKETS
    if len(good) < len(judged):
        return TargetState.UNEVEN
    if BackendState.MIXED in judged.values():
        return TargetState.MIXED
    keepers = {backend for backend, state in judged.items() if state is BackendState.STATEFUL}
    return _share_alike(good, keepers, names, crossed, excused=excused)


def _share_alike(
    good: Collection[Address],
    keepers: Collection[Address],
    names: Mapping[Address, bytes],
    crossed: Crossed,
    *,
    excused: bool,
) -> TargetState:
    """Draw the state of backends that all resume."""
    if keepers == good:
        return _share_sessions(good, crossed)
    if excused and (crossed.refused or crossed.doubted or len(set(names.values())) > 1):
        return TargetState.ROTATING
    return _share_keys(good, keepers, names, crossed)


def _share_sessions(backends: Collection[Address], crossed: Crossed) -> TargetState:
    """Each backend keeps its own sessions, unless they are seen to take each other's."""
    if crossed.refused or len(backends) == 1:
        return TargetState.STATEFUL
    return TargetState.UNKNOWN if crossed.doubted or not crossed.accepted else TargetState.CONSISTENT


def _share_keys(
    backends: Collection[Address], keepers: Collection[Address], names: Mapping[Address, bytes], crossed: Crossed
) -> TargetState:
    """A refusal tells of keys, save between backends that both keep their sessions themselves."""
    refused = {pair for pair in crossed.refused if not set(pair) <= set(keepers)}
    if refused:
        mutual = any(pair[::-1] not in crossed.accepted for pair in refused)
        return TargetState.SPLIT if mutual else TargetState.ONE_WAY
    proven = len(backends) == 1 or _namesakes(backends, names) or bool(crossed.accepted)
    if crossed.refused or crossed.doubted or not proven:
        return TargetState.UNKNOWN
    return TargetState.CONSISTENT


def _namesakes(backends: Collection[Address], names: Mapping[Address, bytes]) -> bool:
    return len({names.get(backend) for backend in backends}) == 1 and all(backend in names for backend in backends)


def find_odd(
    state: TargetState,
    states: Mapping[Address, BackendState],
    cells: Sequence[Cell],
    told: Sequence[Cell],
    crossed: Crossed,
) -> tuple[Address, ...]:
    """Name the backends that stand against the rest; none where the rest is no majority and nothing else tells.

    Args:
        state: what was found for the target.
        states: those of its backends.
        cells: backends that share a key, the largest cell first.
        told: those of the cells that are known to have different keys.
        crossed: who accepts and who refuses whose tickets.
    """
    odd: Collection[Address] = ()
    if state is TargetState.UNEVEN:
        odd = [backend for backend, found in states.items() if found in BAD]
    elif state is TargetState.MIXED:
        odd = [backend for backend, found in states.items() if found is BackendState.MIXED]
    elif state is TargetState.ONE_WAY:
        odd = _strangers(cells, crossed)
    elif state is TargetState.SPLIT and _is_majority(cells, told):
        odd = [backend for cell in told[1:] for backend in cell]
    return tuple(sorted(odd))


def _is_majority(cells: Sequence[Cell], told: Sequence[Cell]) -> bool:
    """Tell whether the first cell is the largest beyond doubt, whatever cells that are not told apart may be."""
    rest = [len(cell) for cell in cells[1:]]
    return len(cells[0]) > (max(rest, default=0) if len(told) == len(cells) else sum(rest))


def _strangers(cells: Sequence[Cell], crossed: Crossed) -> Collection[Address]:
    """Find those whose tickets others refuse while they accept the others': they encrypt with a key not known there.

    Where they are the majority, the others are the odd ones: they have not learnt the new key.
    """
    issuers, acceptors = ({pair[side] for pair in crossed.refused} for side in (0, 1))
    strangers, others = (
        {backend for cell in cells if not cell.isdisjoint(ends) for backend in cell} for ends in (issuers, acceptors)
    )
    if not strangers.isdisjoint(others):
        return issuers - acceptors
    return strangers if len(strangers) <= len(others) else others
