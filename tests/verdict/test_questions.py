"""What is asked again in a round."""

from collections.abc import Iterable

import pytest

from exporter.model.target import Address
from exporter.model.verdicts import Mechanism, OfferOutcome
from exporter.verdict.hints import questions
from exporter.verdict.history import BackendMemory, History, Pair, Standing, VersionHistory
from exporter.verdict.keyline import KeyLine
from tests.verdict.fleet import TLS13, address


def pairs(text: str) -> tuple[Pair, ...]:
    """Read pairs such as "12 23": the first's ticket, offered to the second."""
    return tuple((address(int(pair[0])), address(int(pair[1]))) for pair in text.split())


def words(asked: Iterable[Pair]) -> str:
    """Write pairs in the same way."""
    return " ".join("".join(backend.host.rpartition(".")[2] for backend in pair) for pair in asked)


def memory(letter: str) -> BackendMemory:
    """Remember a backend by a letter: the name of its key, `-` for hidden ones, `s` for state, `?` for unknown."""
    plain = {"-": Mechanism.HIDDEN, "s": Mechanism.STATEFUL, "?": Mechanism.UNKNOWN}
    if letter in plain:
        return BackendMemory(mechanism=plain[letter])
    return BackendMemory(mechanism=Mechanism.RFC5077, line=KeyLine(letter.encode() * 16))


def remember(fleet: str, refused: str = "", accepted: str = "") -> History:
    """Remember backends by a letter each, and how their pairs stood."""
    standing = {pair: Standing(OfferOutcome.REFUSED, 5, refusals=2) for pair in pairs(refused)}
    standing |= {pair: Standing(OfferOutcome.ACCEPTED, 5) for pair in pairs(accepted)}
    backends = {address(number): memory(letter) for number, letter in enumerate(fleet, 1)}
    return History(5, {TLS13: VersionHistory(backends, standing)})


RING3, RING4 = "12 23 31", "12 23 34 41"


@pytest.mark.parametrize(
    ("history", "asked", "refused", "expected"),
    [
        pytest.param(remember("AAA"), RING3, "", "", id="all is well"),
        pytest.param(remember("???"), RING3, "12", "21 12", id="a first refusal: its reverse, and once more"),
        pytest.param(remember("???"), RING3, "12 31", "21 13 12 31", id="two of them"),
        pytest.param(remember("AABB"), RING4, "23 41", "32 14 23 41", id="two groups"),
        pytest.param(remember("ABAB"), RING4, RING4, "21 32 12 23", id="one pair for each two keys"),
        pytest.param(remember("ABAB", "12 21"), RING4, RING4, "21 32 23", id="what is certain needs no second try"),
        pytest.param(remember("AABC"), RING4, "23 34 41", "32 43 14 23 34 41", id="three groups, all in the ring"),
        pytest.param(
            remember("ABCD"), RING4, RING4, "21 32 43 14 12 23 34 41 13 24 31 42", id="and those that the ring left out"
        ),
        pytest.param(remember("AAB", "13 31 23 32"), RING3, "", "", id="names that differ, as the ring has asked"),
        pytest.param(remember("AAA", "13"), RING3, "", "13 21 32", id="a name that is belied"),
        pytest.param(remember("---", "13"), RING3, "", "13 21 32", id="hidden: refused ones, and unknown ones"),
        pytest.param(remember("---", "12 21 23 32", "13 31"), RING3, "12 23", "21 32", id="hidden, and all is known"),
        pytest.param(remember("---"), RING3, "", "", id="hidden, and all is well"),
        pytest.param(remember("sss"), RING3, RING3, "21 32 13 12 23 31", id="state, seen for the first time"),
        pytest.param(remember("sss", RING3), RING3, RING3, "", id="state, as ever"),
        pytest.param(remember("A-A", "12 21", "13"), RING3, "12", "21", id="hidden among named ones"),
    ],
)
def test_questions(history: History, asked: str, refused: str, expected: str) -> None:
    """Nothing is asked while all is well; what differs is asked about as sparingly as names allow."""
    count = len(history.of(TLS13).backends)
    present = [address(number) for number in range(1, count + 1)]

    assert words(questions(history, TLS13, present, pairs(asked), pairs(refused))) == expected


def test_those_that_are_not_there_are_not_asked() -> None:
    """Only backends that have a ticket to offer in this round are asked about."""
    history = remember("---", "12 13 23")

    assert words(questions(history, TLS13, [address(1), address(3)], (), ())) == "13 31"


def test_key_groups_are_asked_about_in_pairs() -> None:
    """With 64 backends in four groups, twelve pairs are asked, whatever the ring has shown."""
    many = [Address(f"10.0.0.{number}", 443) for number in range(64)]
    backends = {backend: memory("ABCD"[number % 4]) for number, backend in enumerate(many)}
    history = History(5, {TLS13: VersionHistory(backends)})
    ring = list(zip(many, many[1:] + many[:1], strict=True))

    asked = list(questions(history, TLS13, many, ring, ring))

    assert len(asked) == 4 + 4 + 4  # reverses, second tries, and pairs of groups that are no neighbours
