"""Keys as they are written down, across restarts."""

from dataclasses import replace

import pytest

from exporter.model.fingerprint import SALT, digest
from exporter.model.keys import KeyRecord
from exporter.model.target import Address
from exporter.verdict.history import EMPTY, KeySight
from exporter.verdict.keybook import Entry, close, enter, records_of, seed
from tests.verdict.fleet import TLS12, TLS13, address

A, B, C = (letter * 16 for letter in (b"A", b"B", b"C"))
OLD = KeySight(digest(A), 1.0, 5.0)


@pytest.mark.parametrize(
    ("page", "entry", "expected", "new"),
    [
        pytest.param((), Entry(A, {}, False, 7.0), [(A, 7.0, 9.0, True)], True, id="the first"),
        pytest.param((OLD,), Entry(A, {}, False, 7.0), [(A, 1.0, 9.0, True)], False, id="the same"),
        pytest.param((OLD,), Entry(B, {}, False, 7.0), [(A, 1.0, 5.0, False), (B, 7.0, 9.0, True)], True, id="another"),
        pytest.param((OLD,), Entry(A, {B: 7.0}, False, 1.0), [(A, 1.0, 9.0, True)], False, id="one that may follow"),
        pytest.param(
            (OLD,),
            Entry(A, {B: 7.0}, True, 1.0),
            [(A, 1.0, 9.0, True), (B, 7.0, 9.0, False)],
            False,
            id="one that takes turns",
        ),
    ],
)
def test_enter(
    page: tuple[KeySight, ...], entry: Entry, expected: list[tuple[bytes, float, float, bool]], new: bool
) -> None:
    """A page lists the keys of a backend with the time of their first and last sight."""
    entered, found = enter(page, entry, 9.0, SALT)

    assert found is new
    assert entered == tuple(KeySight(digest(name), first, last, current) for name, first, last, current in expected)


def test_a_page_is_bounded() -> None:
    """A backend that changes its key for ever keeps its last eight, the one in use among them."""
    page: tuple[KeySight, ...] = ()
    for turn in range(50):
        page, _ = enter(page, Entry(turn.to_bytes(16, "big"), {}, False, float(turn)), float(turn), SALT)

    assert [sight.first_seen for sight in page] == [float(turn) for turn in range(42, 50)]
    assert [sight.current for sight in page] == [False] * 7 + [True]


def test_the_pages_of_those_that_left_are_bounded() -> None:
    """Of backends that have left, none has a current key any more, and the last 64 are remembered."""
    book = {Address(f"10.0.0.{number}", 443): (replace(OLD, last_seen=float(number)),) for number in range(100)}
    present = Address("10.0.0.3", 443)

    left = close(book, [present])

    assert len(left) == 65
    assert [backend for backend, (sight,) in left.items() if sight.current] == [present]


def test_what_is_written_down_comes_back() -> None:
    """A history begun from records gives the same records, for addresses of both families and both versions."""
    records = {
        KeyRecord(TLS13, "127.0.0.1:443", digest(A), 1.0, 2.0, current=False),
        KeyRecord(TLS13, "127.0.0.1:443", digest(B), 2.0, 3.0, current=True),
        KeyRecord(TLS12, "[::1]:8443", digest(A), 1.5, 3.0, current=True),
    }

    history = seed(records)

    assert set(records_of(history)) == records
    assert [sight.digest for sight in history.of(TLS13).book[address(1)]] == [digest(A), digest(B)]
    assert Address("::1", 8443) in history.of(TLS12).book
    assert records_of(EMPTY) == ()


@pytest.mark.parametrize("text", ["", "host", ":443", "127.0.0.1:", "127.0.0.1:https"])
def test_a_record_of_no_address_is_refused(text: str) -> None:
    """What names no address and port is no record."""
    with pytest.raises(ValueError, match=r"address and port|invalid literal"):
        seed([KeyRecord(TLS13, text, digest(A), 1.0, 2.0, current=True)])
