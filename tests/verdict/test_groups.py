"""Key groups, the target's state and the odd ones, from who accepts whom."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.model.target import Address
from exporter.model.verdicts import BackendState, TargetState
from exporter.verdict.crossings import Crossed
from exporter.verdict.groups import Cell, group, partition, tell_apart
from exporter.verdict.history import Numbers
from exporter.verdict.sharing import compare
from tests.verdict.fleet import address

A, B, C = (letter * 16 for letter in (b"A", b"B", b"C"))


def pairs(text: str) -> frozenset[tuple[Address, Address]]:
    """Read pairs such as "12 23": the first's ticket, offered to the second."""
    return frozenset((address(int(pair[0])), address(int(pair[1]))) for pair in text.split())


def crossed(accepted: str = "", refused: str = "", doubted: str = "") -> Crossed:
    """Read who accepts and who refuses whom."""
    return Crossed(pairs(accepted), pairs(refused), pairs(doubted))


def cells_of(text: str) -> tuple[Cell, ...]:
    """Read cells such as "12 3"."""
    return tuple(frozenset(address(int(digit)) for digit in cell) for cell in text.split())


def names_of(*names: bytes | None) -> dict[Address, bytes]:
    """Give names to the backends in order."""
    return {address(number): name for number, name in enumerate(names, 1) if name is not None}


@pytest.mark.parametrize(
    ("count", "names", "crossings", "expected", "told"),
    [
        pytest.param(1, names_of(), crossed(), "1", "1", id="alone"),
        pytest.param(3, names_of(A, A, A), crossed(), "123", "123", id="one name"),
        pytest.param(4, names_of(A, B, A, B), crossed(), "13 24", "13 24", id="two names"),
        pytest.param(2, names_of(A, B), crossed("12 21"), "1 2", "1 2", id="names differ though both are accepted"),
        pytest.param(3, names_of(), crossed("12 23 31"), "123", "123", id="hidden, a ring"),
        pytest.param(3, names_of(), crossed("12"), "12 3", "12", id="hidden, one unseen"),
        pytest.param(3, names_of(), crossed("12", "23 32 31"), "12 3", "12 3", id="hidden, one apart"),
        pytest.param(4, names_of(), crossed("", "12 21 23 34 41"), "1 2 3 4", "1 2", id="hidden, who knows"),
        pytest.param(4, names_of(), crossed("12 32 34 41", "23"), "134 2", "134 2", id="hidden, decrypt-only"),
        pytest.param(3, names_of(A, None, A), crossed("12 23"), "123", "123", id="a newcomer accepted"),
        pytest.param(3, names_of(A, None, B), crossed("12 23"), "1 2 3", "1 3", id="a newcomer between two names"),
        pytest.param(3, names_of(A, A, A), crossed("31", "12 21 23 32"), "13 2", "13 2", id="a name belied"),
        pytest.param(2, names_of(b"\0\0\0\1", b"\0\0\0\1"), crossed(), "1 2", "1", id="counters prove nothing"),
        pytest.param(2, names_of(b"\0\0\0\1", b"\0\0\0\2"), crossed(), "1 2", "1 2", id="counters that differ"),
    ],
)
def test_partition(count: int, names: Mapping[Address, bytes], crossings: Crossed, expected: str, told: str) -> None:
    """Names part the fleet where they are visible and not belied, acceptance where not."""
    cells = partition([address(number) for number in range(1, count + 1)], names, crossings)

    assert cells == cells_of(expected)
    assert tell_apart(cells, names, crossings) == cells_of(told)


RESUMES, STATEFUL, REFUSES = BackendState.RESUMES, BackendState.STATEFUL, BackendState.REFUSES
NO_TICKETS, KILLS, MIXED = BackendState.NO_TICKETS, BackendState.KILLS, BackendState.MIXED
FAILED, UNKNOWN, NOT_SPOKEN = BackendState.FAILED, BackendState.UNKNOWN, BackendState.NOT_SPOKEN


@pytest.mark.parametrize(
    ("states", "names", "crossings", "expected", "odd"),
    [
        pytest.param([], (), crossed(), TargetState.UNKNOWN, "", id="nobody"),
        pytest.param([FAILED, UNKNOWN, NOT_SPOKEN], (), crossed(), TargetState.UNKNOWN, "", id="nobody to judge"),
        pytest.param([NO_TICKETS] * 2, (), crossed(), TargetState.NO_TICKETS, "", id="nothing issued"),
        pytest.param([REFUSES] * 2, (), crossed(), TargetState.BROKEN, "", id="nothing accepted"),
        pytest.param([REFUSES, NO_TICKETS], (), crossed(), TargetState.BROKEN, "", id="neither"),
        pytest.param([KILLS] * 2, (), crossed(), TargetState.BROKEN, "", id="all kill"),
        pytest.param([RESUMES, KILLS], (), crossed(), TargetState.UNEVEN, "2", id="one kills"),
        pytest.param([RESUMES, REFUSES, NO_TICKETS], (), crossed(), TargetState.UNEVEN, "23", id="uneven"),
        pytest.param([STATEFUL, NO_TICKETS], (), crossed(), TargetState.UNEVEN, "2", id="uneven beside state"),
        pytest.param([RESUMES, MIXED], (), crossed("", "12 21"), TargetState.MIXED, "2", id="mixed before split"),
        pytest.param([STATEFUL], (), crossed(), TargetState.STATEFUL, "", id="state alone"),
        pytest.param([STATEFUL] * 2, (), crossed("", "12 21"), TargetState.STATEFUL, "", id="state of their own"),
        pytest.param([STATEFUL] * 2, (), crossed("12 21"), TargetState.CONSISTENT, "", id="state in common"),
        pytest.param([STATEFUL] * 2, (), crossed(), TargetState.UNKNOWN, "", id="state, nothing seen to cross"),
        pytest.param([STATEFUL, RESUMES], (), crossed("", "12 21"), TargetState.SPLIT, "", id="state beside a key"),
        pytest.param(
            [STATEFUL, STATEFUL, RESUMES, RESUMES],
            (),
            crossed("34", "12 21"),
            TargetState.UNKNOWN,
            "",
            id="state beside keys, nothing seen between",
        ),
        pytest.param([RESUMES], (), crossed(), TargetState.CONSISTENT, "", id="alone"),
        pytest.param([RESUMES] * 2, (), crossed("12 21"), TargetState.CONSISTENT, "", id="both ways"),
        pytest.param([RESUMES] * 2, (), crossed(), TargetState.UNKNOWN, "", id="nothing seen to cross"),
        pytest.param([RESUMES] * 2, (A, A), crossed(), TargetState.CONSISTENT, "", id="one name, nothing crossed"),
        pytest.param([RESUMES] * 3, (), crossed("12 23", "", "31"), TargetState.UNKNOWN, "", id="a doubt"),
        pytest.param([RESUMES] * 2, (), crossed("", "12 21"), TargetState.SPLIT, "", id="two apart"),
        pytest.param([RESUMES] * 2, (), crossed("", "12"), TargetState.SPLIT, "", id="the reverse not seen"),
        pytest.param([RESUMES] * 2, (), crossed("21", "12"), TargetState.ONE_WAY, "1", id="one way"),
        pytest.param([RESUMES] * 3, (A, B, B), crossed("23 31", "12 13 21"), TargetState.SPLIT, "1", id="one odd"),
        pytest.param([RESUMES] * 3, (A, B, C), crossed("", "12 23 31"), TargetState.SPLIT, "", id="each its own"),
        pytest.param(
            [RESUMES, RESUMES, FAILED], (), crossed("12", "13 23"), TargetState.CONSISTENT, "", id="who failed is out"
        ),
    ],
)
def test_compare(
    states: Sequence[BackendState], names: Sequence[bytes], crossings: Crossed, expected: TargetState, odd: str
) -> None:
    """The state of a target is the first that holds over the backends that can be judged."""
    found = {address(number): state for number, state in enumerate(states, 1)}

    comparison = compare(found, names_of(*names), crossings, numbers=Numbers(), last={})

    assert comparison.state is expected
    assert comparison.odd == tuple(address(int(digit)) for digit in odd)


@pytest.mark.parametrize(
    ("cells", "names", "numbers", "last", "expected"),
    [
        pytest.param("12 3", names_of(A, A, B), Numbers(), "", "112", id="the largest first"),
        pytest.param("12 3", names_of(A, A, B), Numbers({B: 1}, 1), "", "221", id="a name keeps its number"),
        pytest.param("12", names_of(C, C), Numbers({A: 1, B: 2}, 2), "1:1 2:1", "33", id="a new name, a new number"),
        pytest.param("12", names_of(A, A), Numbers({}, 1), "1:1 2:1", "11", id="a name that came to light"),
        pytest.param("12", names_of(), Numbers({A: 1}, 1), "1:1 2:1", "11", id="a name that went dark"),
        pytest.param("12 3", names_of(None, None, A), Numbers({A: 1}, 1), "1:1 2:1", "221", id="a name comes first"),
        pytest.param("12 3", names_of(A, None, B), Numbers(), "1:2 3:2", "223", id="given anew only once"),
    ],
)
def test_group(cells: str, names: Mapping[Address, bytes], numbers: Numbers, last: str, expected: str) -> None:
    """Groups have numbers in order of first sight and keep them."""
    before = {address(int(one[0])): int(one[2]) for one in last.split()}

    apart = crossed("", "13 23" if len(names) < 2 else "")
    grouping = group(cells_of(cells), names, apart, numbers=numbers, last=before)

    assert "".join(str(grouping.of[backend]) for backend in sorted(grouping.of)) == expected


def test_the_names_that_are_remembered_are_bounded() -> None:
    """A fleet that changes its key for ever does not fill the memory, and numbers go on."""
    numbers = Numbers()
    for turn in range(1, 201):
        name = turn.to_bytes(16, "big")
        numbers = group(cells_of("1"), names_of(name), Crossed(), numbers=numbers, last={}).numbers

    assert (len(numbers.by_name), numbers.given) == (64, 200)


@given(
    keys=st.lists(st.sampled_from("abc"), min_size=1, max_size=8),
    permutation=st.permutations(range(1, 9)),
    visible=st.booleans(),
)
def test_groups_are_stable_under_renaming(keys: list[str], permutation: list[int], visible: bool) -> None:
    """What the backends are called decides nothing about who belongs together."""

    def part(place: Mapping[int, Address]) -> set[frozenset[int]]:
        crossings = Crossed(
            frozenset((place[i], place[j]) for i in place for j in place if i != j and keys[i] == keys[j]),
            frozenset((place[i], place[j]) for i in place for j in place if keys[i] != keys[j]),
        )
        names = {place[i]: keys[i].encode() * 16 for i in place} if visible else {}
        back = {backend: i for i, backend in place.items()}
        return {frozenset(back[one] for one in cell) for cell in partition(list(place.values()), names, crossings)}

    plain = part({i: address(i + 1) for i in range(len(keys))})
    renamed = part({i: address(permutation[i]) for i in range(len(keys))})

    assert plain == renamed == {frozenset(i for i, k in enumerate(keys) if k == key) for key in keys}
