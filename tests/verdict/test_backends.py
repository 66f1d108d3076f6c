"""The state of one backend, from rounds made by hand."""

from collections.abc import Sequence

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Observation, Offer, Origin, Ticket, TlsFacts
from exporter.model.target import Endpoint, ProbeSettings, Target, TlsVersion
from exporter.model.verdicts import BackendState, Cause, Mechanism
from exporter.verdict.history import EMPTY
from exporter.verdict.judge import judge
from tests.verdict.fleet import NOW, TLS12, TLS13, address, certificate, shaken

HERE, PEER = address(1), address(2)
TARGET = Target("t", Endpoint("site.test", 443), "site.test")
ALERT = Failure(Stage.HANDSHAKE, Reason.ALERT_INTERNAL_ERROR)
RESET = Failure(Stage.HANDSHAKE, Reason.RESET)
LATE = Failure(Stage.HANDSHAKE, Reason.TIMEOUT)


class Script:
    """Writes observations of one backend in a few words: each ticket is called by a letter, "Aa" being of key A."""

    def __init__(self, version: TlsVersion = TLS13) -> None:
        self.version = version
        self._serial = 0

    def ticket(self, name: str) -> Ticket:
        """Give a ticket by its name, of the key that its first letter names; "-" hides the key."""
        key = b"" if name[0] == "-" else name[0].encode() * 16
        return Ticket((key + name.encode() * 60)[:120].ljust(150, name[-1].encode()), 300)

    def full(self, *tickets: str, session_id: bool = False) -> Observation:
        """Write a full handshake that brought these tickets."""
        facts = TlsFacts(
            version=self.version,
            cipher="c",
            tickets=tuple(self.ticket(name) for name in tickets),
            session_id=session_id,
            certificate=certificate(b"leaf"),
        )
        return Observation(HERE, self.version, None, shaken(facts))

    def offer(
        self, ticket: str, result: str, *new: str, origin: Origin = Origin.SELF, fresh: bool = True
    ) -> Observation:
        """Write an offer that was accepted (+), refused (-) or not made (0), with the tickets that it brought."""
        facts = TlsFacts(
            version=self.version,
            cipher="c",
            resumed=result == "+",
            offered=result != "0",
            offer_kind="ticket" if ticket else "session_id",
            tickets=tuple(self.ticket(name) for name in new),
        )
        return Observation(HERE, self.version, self._offer(ticket, origin, fresh=fresh), shaken(facts))

    def broken(self, ticket: str, failure: Failure, origin: Origin = Origin.SELF) -> Observation:
        """Write an offer that broke the connection, while one without it worked."""
        return Observation(HERE, self.version, self._offer(ticket, origin), failure, confirmed=True)

    def _offer(self, ticket: str, origin: Origin, *, fresh: bool = True) -> Offer:
        issuer = HERE if origin is Origin.SELF else PEER
        return Offer(issuer, origin, 0.5, self.ticket(ticket) if ticket else None, fresh=fresh)


def play(rounds: Sequence[Sequence[Observation]], version: TlsVersion = TLS13) -> list[BackendState]:
    """Judge rounds one after the other and give the backend's state after each."""
    history, states = EMPTY, []
    for observations in rounds:
        judgement = judge(TARGET, (HERE, PEER), observations, history, now=NOW)
        history = judgement.history
        states.append(judgement.verdicts[version].backends[HERE].state)
    return states


RESUMES, STATEFUL, REFUSES = BackendState.RESUMES, BackendState.STATEFUL, BackendState.REFUSES
NO_TICKETS, KILLS, MIXED = BackendState.NO_TICKETS, BackendState.KILLS, BackendState.MIXED
UNKNOWN = BackendState.UNKNOWN
S = Script()
GOOD = [S.full("A1", "A2"), S.offer("A1", "+", "A3")]
LOST = [S.full("A4", "A5")]


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        pytest.param([GOOD], [RESUMES], id="accepted at home"),
        pytest.param([[S.full("A1"), S.offer("P1", "+", origin=Origin.PEER)]], [RESUMES], id="accepted of a peer"),
        pytest.param([[S.full("A1", "A2"), S.offer("A1", "-", "A3")]], [REFUSES], id="refused at home"),
        pytest.param([[S.full("A1"), S.offer("P1", "-", origin=Origin.PEER)]], [UNKNOWN], id="refused of a peer alone"),
        pytest.param([[S.full()]], [NO_TICKETS], id="nothing issued"),
        pytest.param([[S.full("A1"), S.offer("A1", "0", "A2")]], [UNKNOWN], id="not offered"),
        pytest.param([LOST], [UNKNOWN], id="lost from the start"),
        pytest.param([GOOD, LOST, LOST, LOST, LOST], [RESUMES] * 4 + [UNKNOWN], id="lost, and held for three rounds"),
        pytest.param([GOOD, [], [], [], []], [RESUMES] * 4 + [UNKNOWN], id="not asked"),
        pytest.param(
            [GOOD, [S.offer("A2", "-", "B1"), S.full("B2", "B3"), S.offer("B2", "+", "B4")]],
            [RESUMES, RESUMES],
            id="a kept ticket refused, a fresh one accepted",
        ),
        pytest.param([GOOD, [S.offer("A2", "-", "B1"), S.full("B2")]], [RESUMES] * 2, id="a kept one refused alone"),
        pytest.param(
            [GOOD, *[[S.full("A6", "A7"), S.offer("A6", "-", "A8")]] * 2],
            [RESUMES, RESUMES, REFUSES],
            id="two refusals",
        ),
        pytest.param([GOOD, [S.full()], [S.full()]], [RESUMES, RESUMES, NO_TICKETS], id="twice nothing issued"),
        pytest.param([[S.full()], LOST], [NO_TICKETS, UNKNOWN], id="issued now, and lost"),
        pytest.param([[S.full()], GOOD], [NO_TICKETS, RESUMES], id="switched on"),
        pytest.param([[S.full("A1"), S.broken("A1", ALERT), S.full("A2")]], [KILLS], id="an alert, confirmed"),
        pytest.param(
            [[*GOOD, S.broken("P1", ALERT, Origin.PEER), S.full("A9")]], [KILLS], id="an alert on a peer's ticket"
        ),
        pytest.param([[S.full("A1"), S.broken("A1", RESET), S.full("A2")]], [UNKNOWN], id="one reset"),
        pytest.param([[S.full("A1"), *[S.broken("A1", RESET)] * 2, S.full("A2")]], [KILLS], id="two resets"),
        pytest.param([[S.full("A1"), *[S.broken("A1", LATE)] * 2]], [UNKNOWN], id="two silences"),
        pytest.param([[S.full("A1"), *[S.broken("A1", LATE)] * 3]], [KILLS], id="three silences"),
        pytest.param(
            [[S.full("A1"), S.broken("A1", RESET), S.offer("A1", "+"), S.broken("A1", RESET)]],
            [RESUMES],
            id="resets between acceptances",
        ),
        pytest.param(
            [[S.full("A1"), *[S.broken("A1", LATE)] * 3, Observation(HERE, TLS13, None, LATE)]],
            [UNKNOWN],
            id="a lossy path is no killer",
        ),
        pytest.param(
            [[S.full("A1", "A2"), S.offer("A1", "-", "B1", "B2")]], [UNKNOWN], id="another key a moment later"
        ),
        pytest.param(
            [
                [S.full("A1", "A2"), S.offer("A1", "-", "B1", "B2")],
                [S.full("B3", "B4"), S.offer("B3", "-", "A3", "A4")],
                [S.full("A5", "A6"), S.offer("A5", "+", "A7")],
            ],
            [UNKNOWN, MIXED, MIXED],
            id="two keys in turn",
        ),
        pytest.param(
            [
                [*GOOD, S.offer("P1", "-", origin=Origin.PEER), S.offer("P1", "+", origin=Origin.PEER)],
                [*GOOD, S.offer("P2", "-", origin=Origin.PEER), S.offer("P2", "+", origin=Origin.PEER)],
            ],
            [RESUMES, MIXED],
            id="wavering twice",
        ),
        pytest.param(
            [
                [*GOOD, S.offer("P1", "+", origin=Origin.PEER), S.offer("P1", "-", origin=Origin.PEER)],
                [*GOOD, S.offer("P2", "+", origin=Origin.PEER), S.offer("P2", "-", origin=Origin.PEER)],
            ],
            [RESUMES, RESUMES],
            id="good for one use",
        ),
    ],
)
def test_state_in_tls13(rounds: Sequence[Sequence[Observation]], expected: list[BackendState]) -> None:
    """A backend's state is what its rounds prove, and what chance may bring about is not proof."""
    assert play(rounds) == expected


O = Script(TLS12)  # noqa: E741 - the old one


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        pytest.param([[O.full("A1"), O.offer("A1", "+")]], [RESUMES], id="a ticket"),
        pytest.param([[O.full("A1"), O.offer("A1", "-", "A2")]], [REFUSES], id="a ticket refused"),
        pytest.param([[O.full(session_id=True), O.offer("", "+")]], [STATEFUL], id="an id"),
        pytest.param([[O.full(session_id=True), O.offer("", "-")]], [NO_TICKETS], id="an id refused"),
        pytest.param([[O.full()]], [NO_TICKETS], id="neither"),
        pytest.param([[O.offer("", "+")]], [STATEFUL], id="a kept id, and the full handshake not made"),
        pytest.param([[O.full(session_id=True)]], [UNKNOWN], id="an id, and the offer lost"),
        pytest.param(
            [[O.offer("", "-", fresh=False), O.full(session_id=True), O.offer("", "+")]],
            [STATEFUL],
            id="a kept id refused",
        ),
        pytest.param(
            [[O.offer("", "-", fresh=False), O.full(session_id=True)]],
            [UNKNOWN],
            id="a kept id refused, no more known",
        ),
        pytest.param(
            [[O.full(session_id=True), O.offer("", "-", fresh=False), O.offer("", "+")]] * 3,
            [STATEFUL] * 3,
            id="kept ids that are dropped again and again",
        ),
    ],
)
def test_state_in_tls12(rounds: Sequence[Sequence[Observation]], expected: list[BackendState]) -> None:
    """In TLS 1.2 a session id may do what tickets do, and it means state."""
    assert play(rounds, TLS12) == expected


def test_tls13_without_a_view_of_its_tickets() -> None:
    """Where the library does not show TLS 1.3 tickets, acceptance alone tells, and nothing is taken for state."""
    accepted = [S.full(), S.offer("", "+")]
    refused = [S.full(), S.offer("", "-")]

    assert play([accepted]) == [RESUMES]
    assert play([refused]) == [REFUSES]


def test_mechanism_of_session_ids() -> None:
    """A TLS 1.2 session that resumes by its id is state, and a server that gives none has no tickets."""
    by_id = judge(TARGET, (HERE,), [O.full(session_id=True), O.offer("", "+")], EMPTY, now=NOW)
    nothing = judge(TARGET, (HERE,), [O.full()], EMPTY, now=NOW)

    assert by_id.verdicts[TLS12].backends[HERE].mechanism is Mechanism.STATEFUL
    assert nothing.verdicts[TLS12].backends[HERE].mechanism is Mechanism.NO_TICKETS


def test_a_kept_ticket_of_a_changed_key_is_laid_to_the_key() -> None:
    """A ticket that was accepted in the round before and is refused after a change of key has not been used up."""
    before = judge(TARGET, (HERE,), [*GOOD, S.offer("A2", "+", "A4")], EMPTY, now=NOW)

    after = judge(TARGET, (HERE,), [S.offer("A2", "-", "B1", "B2"), S.full("B3", "B4")], before.history, now=NOW)

    (crossing,) = after.verdicts[TLS13].crossings
    assert (crossing.cause, crossing.offered_key, crossing.issued_key) == (Cause.KEY, b"A" * 16, b"B" * 16)


def test_a_ticket_that_was_used_up_is_no_refusal() -> None:
    """A ticket accepted before and refused under the same key, while fresh ones are accepted, was good for one use."""
    before = judge(TARGET, (HERE,), [*GOOD, S.offer("A2", "+", "A4")], EMPTY, now=NOW)
    again = [S.offer("A2", "-", "A5"), S.full("A6", "A7"), S.offer("A6", "+", "A8")]

    after = judge(TARGET, (HERE,), again, before.history, now=NOW)

    assert [one.cause for one in after.verdicts[TLS13].crossings] == [Cause.SINGLE_USE, None]


def test_a_sample_holds_until_its_turn_comes_again() -> None:
    """With two of eight backends a round, a state holds four times as long."""
    target = Target("t", Endpoint("site.test", 443), "site.test", probe=ProbeSettings(sample=2))
    backends = tuple(address(number) for number in range(1, 9))
    judgement = judge(target, backends, GOOD, EMPTY, now=NOW)
    states = []
    for _ in range(13):
        judgement = judge(target, backends, [], judgement.history, now=NOW)
        states.append(judgement.verdicts[TLS13].backends[HERE].state)

    assert states == [RESUMES] * 12 + [UNKNOWN]
