"""When another status over resumed connections is laid to the resumption."""

from collections.abc import Sequence
from random import Random

import pytest

from exporter.model.connections import HttpAnswer, Mismatch
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake, Observation, Offer, Origin, Timing, TimingSource, TlsFacts
from exporter.model.target import Endpoint, Target
from exporter.model.verdicts import TargetState, VersionVerdict
from exporter.verdict.findings import mismatches_of
from exporter.verdict.history import EMPTY
from exporter.verdict.judge import judge
from exporter.verdict.mismatches import Replies, find_mismatch, hear_replies
from tests.verdict.fleet import NOW, TLS12, TLS13, address

A, B = address(1), address(2)


def answered(status: int | None, *, resumed: bool = False, refused: bool = False) -> Observation:
    """Make the observation of a connection whose request was answered so; None is a request that broke."""
    offer = Offer(A, Origin.SELF, 1.0) if resumed or refused else None
    facts = TlsFacts(version=TLS13, cipher="c", resumed=resumed, offered=resumed or refused)
    timing = Timing(source=TimingSource.KERNEL, duration=0.001, wall=0.001)
    http = Failure(Stage.HTTP, Reason.CLOSED) if status is None else HttpAnswer(status, "1.1", 0, 0.001, True)
    return Observation(A, TLS13, offer, Handshake(facts, timing, http=http))


def found(rounds: Sequence[tuple[int | None, int | None]]) -> list[Mismatch | None]:
    """Play rounds of a full and a resumed handshake with these statuses, the latter left out where there is None."""
    replies, told = Replies(), []
    for full, resumed in rounds:
        seen = [answered(full), *([] if resumed is None else [answered(resumed, resumed=True)])]
        replies = hear_replies(replies, seen)
        told.append(find_mismatch(A, replies, seen))
    return told


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        pytest.param([(200, 200)] * 9, [], id="alike"),
        pytest.param([(200, 403)] * 5, [2, 3, 4], id="from the third in a row on"),
        pytest.param([(200, None), (200, 403)] * 4, [5, 7], id="with rounds between that resumed nothing"),
        pytest.param([(200, 403), (200, 403), (200, 200)] * 5, [], id="now and then"),
        pytest.param([(200, 403), (200, 404)] * 5, [], id="another one each time"),
        pytest.param([(200, 503)] * 6, [4, 5], id="one that anyone gets at times, from the fifth on"),
        pytest.param([(200, 429), (200, 429), (200, 429), (200, 429), (200, 200)] * 3, [], id="four in a row"),
        pytest.param([(403, 403)] * 5, [], id="it is broken for all"),
        pytest.param([(200, 403), (403, 403)] * 5, [], id="full handshakes get it, too"),
        pytest.param([(200, 403)] * 2 + [(302, 403)] * 3, [], id="the usual status is new"),
        pytest.param([(403, 403)] + [(200, 403)] * 18, [16, 17, 18], id="full ones got it, but long ago"),
        pytest.param([(None, 403)] * 5, [], id="full handshakes got no answer"),
        pytest.param([(302, 200)] * 3, [2], id="better than usual is another one as well"),
    ],
)
def test_rows(rounds: Sequence[tuple[int | None, int | None]], expected: list[int]) -> None:
    """It takes a row of resumed answers that agree, and full ones that all agree on another status."""
    assert expected == [number for number, mismatch in enumerate(found(rounds)) if mismatch is not None]


def test_noise_is_never_laid_to_resumption() -> None:
    """A server that fails one request in ten, whichever, or half of them with a 404, is told of in no round."""
    random = Random(7)  # noqa: S311 - a simulation must repeat itself
    for status, share in ((503, 0.1), (404, 0.5)):
        rounds = [tuple(status if random.random() < share else 200 for _ in "fr") for _ in range(5000)]
        assert [None] * 5000 == found([(full, resumed) for full, resumed in rounds])


def test_what_is_told() -> None:
    """A mismatch says which statuses, and how many of this round's answers bore it out."""
    before = Replies(full=(200, 200), resumed=(400, 400))
    seen = [answered(200), answered(400, resumed=True), answered(None, resumed=True), answered(400, resumed=True)]

    mismatch = find_mismatch(A, hear_replies(before, seen), seen)

    assert Mismatch(A, full=200, resumed=400, answers=2) == mismatch
    verdict = VersionVerdict(TargetState.CONSISTENT, mismatches=(mismatch,))
    assert ["127.0.0.1:443 answers 400 over resumed connections, and 200 over those of full handshakes"] == [
        str(finding) for finding in mismatches_of(verdict)
    ]


def test_a_refused_offer_is_a_full_handshake() -> None:
    """What is answered after a ticket was turned down is answered to a full handshake."""
    assert Replies(full=(200,)) == hear_replies(Replies(), [answered(200, refused=True)])


def test_what_is_remembered_is_bounded() -> None:
    """However many answers come, the same few are kept."""
    replies = hear_replies(Replies(), [answered(200), answered(200, resumed=True)] * 100)

    assert (16, 16) == (len(replies.full), len(replies.resumed))


def test_a_judged_round_tells_of_it() -> None:
    """The verdict of the version that is affected has it, round after round, and a backend that left takes it along."""
    target = Target("sim", Endpoint("sim.test", 443), "sim.test", versions=(TLS12, TLS13))
    history, told = EMPTY, []
    for _ in range(4):
        seen = [answered(200), answered(421, resumed=True)]
        judgement = judge(target, (A, B), seen, history, now=NOW)
        history = judgement.history
        told.append(tuple(judgement.verdicts[version].mismatches for version in (TLS12, TLS13)))
    history = judge(target, (B,), [], history, now=NOW).history

    assert [((), ()), ((), ()), ((), (Mismatch(A, 200, 421),)), ((), (Mismatch(A, 200, 421),))] == told
    assert {B} == set(history.of(TLS13).backends)
