"""What is kept of targets, and for how long."""

import tracemalloc
from dataclasses import replace

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Ticket
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Crossing,
    KeyEvent,
    KeyEventKind,
    OfferOutcome,
    RoundResult,
    TargetState,
    VersionVerdict,
)
from exporter.web.status.facts import Tone
from exporter.web.status.history import History
from tests.metrics.rounds import STARTED, A, B, C, full, lost, offered, round_of, target

TLS12, TLS13 = TlsVersion.TLS12, TlsVersion.TLS13
SECRET = Ticket(identity=b"TICKET-BYTES-THAT-NOBODY-SEES", lifetime=300)
NAME = b"KEYNAME-NOT-SEEN"
REFUSED = Failure(Stage.CONNECT, Reason.CONNECTION_REFUSED, "nobody there")
MIB = 1 << 20


def fleet(
    number: int,
    groups: tuple[int, ...] = (1, 1, 1),
    state: TargetState = TargetState.CONSISTENT,
    *,
    name: str = "shop",
    crossings: tuple[Crossing, ...] = (),
    events: tuple[KeyEvent, ...] = (),
    failures: tuple[tuple[Address | None, Failure], ...] = (),
    versions: tuple[TlsVersion, ...] = (TLS13,),
) -> RoundResult:
    """Make the round of that number of a target whose first backends have keys of these groups."""
    backends = (A, B, C)[: len(groups)]
    verdict = VersionVerdict(
        state,
        backends={
            backend: BackendVerdict(BackendState.RESUMES, key_name=NAME, key_group=group, key_since=STARTED)
            for backend, group in zip(backends, groups, strict=True)
        },
        crossings=crossings,
        judged=len(backends),
        events=events,
    )
    seen = [shown(backend, version) for backend in backends for version in versions for shown in (full, offered)]
    result = round_of(
        target(name, versions=versions), backends, seen, verdicts=dict.fromkeys(versions, verdict), failures=failures
    )
    return replace(result, number=number, started=STARTED + 30 * number)


def crossing(outcome: OfferOutcome) -> Crossing:
    """Make an offer of A's ticket to B."""
    return Crossing(A, B, outcome, offered_key=NAME, issued_key=NAME)


@pytest.mark.parametrize(
    ("result", "tone"),
    [
        pytest.param(fleet(0), Tone.WELL, id="well"),
        pytest.param(fleet(0, (1, 1, 2), TargetState.SPLIT), Tone.FINDING, id="split"),
        pytest.param(fleet(0, (2, 1, 1), TargetState.ROTATING), Tone.NOTICE, id="rotating"),
        pytest.param(fleet(0, failures=((A, REFUSED),)), Tone.FINDING, id="a failure"),
        pytest.param(round_of(target(), (A,), [lost(A, REFUSED)], failures=((A, REFUSED),)), Tone.DOWN, id="down"),
        pytest.param(round_of(target(), ()), Tone.DOWN, id="nobody there"),
    ],
)
def test_tone(result: RoundResult, tone: Tone) -> None:
    """A target is as urgent as the worst that its last round showed."""
    history = History()
    history.add(result)
    story = history.find("shop")

    assert story is not None
    assert story.tone is tone


def test_nothing_secret_is_kept() -> None:
    """Neither a ticket nor the name of a key is in what pages are made from."""
    history = History()
    seen = [full(A, tickets=(SECRET,))]
    history.add(replace(fleet(0, crossings=(crossing(OfferOutcome.ACCEPTED),)), observations=tuple(seen)))

    kept = repr(history.all())
    assert "TICKET-BYTES" not in kept
    assert "KEYNAME" not in kept
    assert "192.0.2.1" in kept


def test_lanes_hold_changes_alone() -> None:
    """A lane has a span for each key, however many rounds showed it, and ends when the backend leaves."""
    history = History()
    for number, groups in enumerate([(1, 1, 1), (1, 1, 1), (2, 1, 1), (2, 1, 1), (2, 2)]):
        history.add(fleet(number, groups))
    story = history.find("shop")

    assert story is not None
    lanes = story.versions[TLS13].lanes
    assert [(span.group, (span.since - STARTED) / 30) for span in lanes[A]] == [(1, 0), (2, 2)]
    assert [(span.group, span.state) for span in lanes[C]] == [(1, BackendState.RESUMES), (None, None)]


@pytest.mark.parametrize(
    ("later", "kept"),
    [
        pytest.param([fleet(1)], True, id="next round"),
        pytest.param([fleet(number) for number in range(1, 6)], False, id="five rounds on"),
        pytest.param([fleet(1, events=(KeyEvent(KeyEventKind.CHANGE, B),))], False, id="another key since"),
        pytest.param([fleet(1, (1,))], False, id="the backend has left"),
    ],
)
def test_cells(later: list[RoundResult], kept: bool) -> None:
    """The matrix shows an offer until it is old, or one end has another key than it had."""
    history = History()
    history.add(fleet(0, crossings=(crossing(OfferOutcome.REFUSED),)))
    for result in later:
        history.add(result)
    story = history.find("shop")

    assert story is not None
    assert ((A, B) in story.versions[TLS13].cells) is kept


def test_failures_outlive_successes() -> None:
    """A failure is still told, with its count and times, when all rounds in view went well."""
    history = History()
    for number in range(2):
        history.add(fleet(number, failures=((A, REFUSED),)))
    for number in range(2, 200):
        history.add(fleet(number), {"number": number})
    story = history.find("shop")

    assert story is not None
    (trouble,) = story.troubles
    assert (trouble.backend, trouble.failure, trouble.count) == (A, REFUSED, 2)
    assert (trouble.first, trouble.last) == (STARTED, STARTED + 30)
    assert len(story.rounds) == 120
    assert [line.text for line in story.log][-1] == "number=199"
    assert story.tone is Tone.WELL


def test_targets_come_and_go() -> None:
    """A target is there from its admission, and gone with all that was known when it is forgotten."""
    history = History()
    history.admit(target("shop"))
    history.add(fleet(0))
    history.admit(target("shop", labels=(("team", "a"),)))
    (story,) = history.all()
    history.forget("shop")
    history.forget("shop")

    assert story.target.labels == (("team", "a"),)
    assert len(story.rounds) == 1
    assert history.all() == ()


def test_what_a_thousand_targets_cost() -> None:
    """Each of a thousand targets with three backends and two versions takes so little that all stay under 30 MiB."""
    history = History()
    for each in range(1000):
        history.admit(target(f"target {each}"))
    measured = 20
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(26):
            for each in range(measured):
                _live_through(history, number, each)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert {len(story.rounds) for story in history.all()[:measured]} == {20}
    assert (after - before) / measured * 1000 < 30 * MIB


def _live_through(history: History, number: int, each: int) -> None:
    crossings = tuple(Crossing(*pair, OfferOutcome.ACCEPTED) for pair in ((A, B), (B, C), (C, A)))
    result = fleet(number, name=f"target {each}", crossings=crossings, versions=(TLS12, TLS13))
    line = {"target": f"target {each}", "number": number, "note": f"{each} {number} " * 10}
    history.add(replace(result, elapsed=0.25 + number / 7), line)
