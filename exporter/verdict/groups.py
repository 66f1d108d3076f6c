"""Which backends share a ticket key: by its name where that is visible, else by what they accept."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from exporter.model.target import Address
from exporter.verdict.crossings import Crossed
from exporter.verdict.history import Numbers, Pair
from exporter.verdict.mechanism import LONG_NAME

Cell = frozenset[Address]
_NAMES_KEPT = 64


def partition(members: Collection[Address], names: Mapping[Address, bytes], crossed: Crossed) -> tuple[Cell, ...]:
    """Part backends into cells that share a key, the largest first.

    Acceptance is proof and a name is evidence: names that some refusal belies are not used at all. The crossings are
    those of the members.
    """
    named = {backend: names[backend] for backend in members if backend in names} if trusted(names, crossed) else {}
    named = {backend: name for backend, name in named.items() if len(name) >= LONG_NAME}
    links = _links(crossed)
    by_name = [frozenset(backend for backend in named if named[backend] == name) for name in set(named.values())]
    nameless = frozenset(members) - named.keys()
    cells = {cell: set(cell) for cell in by_name}
    for component in _components(nameless, [pair for pair in links if nameless.issuperset(pair)]):
        near = [cell for cell in by_name if any(_joins(pair, cell, component) for pair in links)]
        # Accepted by the bearers of one name, it is of their key; by those of several, that cannot be told.
        cells.setdefault(near[0] if len(near) == 1 else component, set()).update(component)
    return tuple(sorted((frozenset(cell) for cell in cells.values()), key=lambda cell: (-len(cell), min(cell))))


def trusted(names: Mapping[Address, bytes], crossed: Crossed) -> bool:
    """Tell whether equal names mean one key: not if tickets are refused between backends whose names are equal."""
    return not any(
        issuer in names and names[issuer] == names.get(acceptor) and len(names[issuer]) >= LONG_NAME
        for issuer, acceptor in crossed.refused
    )


def _links(crossed: Crossed) -> list[Pair]:
    """Take the accepted pairs that speak for one key, which one direction alone does not do for everyone.

    A backend that accepts another's tickets while its own are refused there only knows that one's key besides its own.
    """
    strangers = {pair[0] for pair in crossed.refused if pair[::-1] in crossed.accepted}
    return [
        pair
        for pair in crossed.accepted
        if pair[::-1] not in crossed.refused and (pair[::-1] in crossed.accepted or strangers.isdisjoint(pair))
    ]


def _joins(pair: Pair, one: Cell, other: Cell) -> bool:
    return (pair[0] in one and pair[1] in other) or (pair[0] in other and pair[1] in one)


def _components(nodes: Collection[Address], links: Iterable[Pair]) -> list[Cell]:
    cell_of = {node: frozenset({node}) for node in nodes}
    for one, other in links:
        merged = cell_of[one] | cell_of[other]
        cell_of.update(dict.fromkeys(merged, merged))
    return list(set(cell_of.values()))


def tell_apart(cells: Iterable[Cell], names: Mapping[Address, bytes], crossed: Crossed) -> tuple[Cell, ...]:
    """Take the cells that are known to have different keys, by their names or by a refusal, the first ones first.

    A cell that is left out may be of the same key as one that is not: nobody has offered a ticket across.
    """
    told: list[Cell] = []
    for cell in cells:
        if all(_apart(cell, other, names, crossed) for other in told):
            told.append(cell)
    return tuple(told)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The key groups of a fleet.

    Attributes:
        of: number of each backend's group; absent where it may be the same as another one's.
        count: how many there are; None where that cannot be told.
    """

    of: Mapping[Address, int]
    count: int | None
    numbers: Numbers


def group(
    cells: Sequence[Cell],
    names: Mapping[Address, bytes],
    crossed: Crossed,
    *,
    numbers: Numbers,
    last: Mapping[Address, int],
) -> Grouping:
    """Number the cells in order of first sight, keeping the numbers that they, or most of their backends, last had."""
    told = tell_apart(cells, names, crossed)
    name_of = {cell: name for cell in told if (name := _name_of(cell, names, crossed)) is not None}
    by_name = dict(numbers.by_name)
    given = numbers.given
    number_of: dict[Cell, int] = {}
    for cell in told:
        name = name_of.get(cell)
        number = by_name.pop(name, None) if name is not None else None
        if number is None:
            others = by_name.values() if name is not None else (by_name.get(other) for other in name_of.values())
            number = _inherited(cell, last, {*number_of.values(), *others}) or given + 1
        given = max(given, number)
        number_of[cell] = number
        if name is not None:
            by_name[name] = number  # again at the end, as the one seen last
    of = {backend: number for cell, number in number_of.items() for backend in cell}
    count = len(told) if 0 < len(told) == len(cells) else None
    return Grouping(of, count, Numbers(dict(list(by_name.items())[-_NAMES_KEPT:]), given))


def _name_of(cell: Cell, names: Mapping[Address, bytes], crossed: Crossed) -> bytes | None:
    found = {names[backend] for backend in cell if len(names.get(backend, b"")) >= LONG_NAME}
    return found.pop() if len(found) == 1 and trusted(names, crossed) else None


def _apart(one: Cell, other: Cell, names: Mapping[Address, bytes], crossed: Crossed) -> bool:
    if any(crossed.either_refused(here, there) for here in one for there in other):
        return True
    ours, theirs = ({names[backend] for backend in cell if backend in names} for cell in (one, other))
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _inherited(cell: Cell, last: Mapping[Address, int], closed: Collection[int | None]) -> int | None:
    """Take the number that most of a cell's members had, unless another cell or name has it."""
    held = Counter(last[backend] for backend in sorted(cell) if backend in last and last[backend] not in closed)
    return held.most_common(1)[0][0] if held else None
