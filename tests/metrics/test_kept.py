"""How accounts are read while rounds end, and what is kept of them from one exposition to the next."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace

import pytest

from exporter.metrics.account import TargetAccount
from exporter.metrics.exposition import render, render_pieces
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from exporter.model.failure import Failure, Reason, Stage
from tests.metrics.cost import fleet
from tests.metrics.parsed import TEXT, expose, families, series
from tests.metrics.rounds import A, full, round_of, target
from tests.metrics.scenes import Unheard, collector


def test_a_round_need_not_wait_for_a_reader() -> None:
    """A round that ends while an account is read is folded at once, and the account is read once more."""
    ledger = Ledger()
    ledger.admit(target())
    seen: list[int] = []

    def look(account: TargetAccount) -> tuple[int, int]:
        before = account.rounds
        if not seen:
            ledger.fold(round_of(target(), (A,)))
        seen.append(before)
        return before, account.rounds

    assert (1, 1) == ledger.read("shop", look)
    assert [0, 1] == seen


def test_a_reader_that_stumbles_reads_again() -> None:
    """What a change makes of a reading under way is no fault; what fails without one is."""
    ledger = Ledger()
    ledger.admit(target())

    def look(account: TargetAccount) -> int:
        if not account.rounds:
            ledger.fold(round_of(target(), (A,)))
            raise RuntimeError("dictionary changed size during iteration")
        return account.rounds

    def fail(_: TargetAccount) -> int:
        raise RuntimeError("a bug")

    assert 1 == ledger.read("shop", look)
    with pytest.raises(RuntimeError, match="a bug"):
        ledger.read("shop", fail)


def test_a_reader_gets_his_turn() -> None:
    """Where a round ends in every reading, it is the rounds that wait in the end."""
    ledger = Ledger()
    ledger.admit(target())

    with ThreadPoolExecutor(1) as other:

        def look(account: TargetAccount) -> tuple[int, int, Future[None]]:
            before = account.rounds
            folding = other.submit(ledger.fold, round_of(target(), (A,)))
            wait([folding], timeout=0.2)
            return before, account.rounds, folding

        read = ledger.read("shop", look)

        assert read is not None
        before, after, folding = read
        folding.result(timeout=10)
    assert 0 < before == after
    assert before + 1 == ledger.read("shop", lambda account: account.rounds)


def test_lines_are_written_once_a_round() -> None:
    """Until a target's round ends its lines are the same objects, and they go when it goes."""
    ledger = Ledger()
    for name in ("one", "two"):
        ledger.fold(round_of(target(name), (A,), [full()]))
    shown = collector(ledger)

    before = list(shown.lines())
    ledger.fold(round_of(target("two"), (A,), [full()]))
    after = list(shown.lines())
    ledger.forget("one")

    assert before[0] is after[0]
    assert b'tlsprobe_rounds_total{target="two"} 1.0\n' == before[1]["rounds_total"]
    assert b'tlsprobe_rounds_total{target="two"} 2.0\n' == after[1]["rounds_total"]
    assert [after[1]] == list(shown.lines())


CHANGES = [
    pytest.param(lambda ledger: ledger.missed("shop", 2), "tlsprobe_round_overruns_total", 2, id="missed"),
    pytest.param(
        lambda ledger: ledger.failed("shop", Failure(Stage.PROBE, Reason.BUG)),
        "tlsprobe_failures_total",
        1,
        id="failed",
    ),
    pytest.param(
        lambda ledger: ledger.admit(replace(target(), interval=7.0)),
        "tlsprobe_interval_seconds",
        7,
        id="other settings",
    ),
    pytest.param(lambda ledger: ledger.forget("shop"), "tlsprobe_rounds_total", None, id="gone"),
]


@pytest.mark.parametrize(("change", "name", "expected"), CHANGES)
def test_kept_lines_follow_every_change(change: Callable[[Ledger], None], name: str, expected: float | None) -> None:
    """Whatever alters an account is in the next exposition, also where one was made before."""
    ledger = Ledger()
    ledger.admit(target())
    shown = collector(ledger)
    expose([shown])

    change(ledger)

    values = [value for (found, _), value in series(families(expose([shown]))).items() if found == name]
    assert expected == (sum(values) if values else None)


def test_pieces() -> None:
    """An exposition comes in pieces that are small and few, in the order of its text."""
    parts = [collector(fleet(10))]

    pieces, kind = render_pieces(parts, TEXT, Faults(Unheard()))

    body, same_kind = render(parts, TEXT, Faults(Unheard()))
    assert (body, same_kind) == (b"".join(pieces), kind)
    assert all(64 * 1024 <= len(piece) < 128 * 1024 for piece in pieces[:-1])
