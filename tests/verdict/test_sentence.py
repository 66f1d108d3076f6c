"""Verdicts in words."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Resumption
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Cause,
    Census,
    Crossing,
    KeyEvent,
    KeyEventKind,
    OfferOutcome,
    Survival,
    TargetState,
    VersionVerdict,
)
from exporter.verdict.backends import BAD, GOOD
from exporter.verdict.sentence import Explanation, explain
from tests.verdict.fleet import TLS12, TLS13, address

RESUMES, STATEFUL, FAILED = BackendState.RESUMES, BackendState.STATEFUL, BackendState.FAILED
SHARED, PER_BACKEND, OFF, ANY = Resumption.SHARED, Resumption.PER_BACKEND, Resumption.OFF, Resumption.ANY


def verdict(
    state: TargetState,
    *states: BackendState,
    odd: Sequence[int] = (),
    groups: int | None = None,
    crossings: tuple[Crossing, ...] = (),
) -> VersionVerdict:
    """Make the verdict of a fleet whose backends have these states."""
    failure = Failure(Stage.CONNECT, Reason.CONNECTION_REFUSED)
    return VersionVerdict(
        state,
        {
            address(number): BackendVerdict(found, failure=failure if found is FAILED else None)
            for number, found in enumerate(states, 1)
        },
        crossings,
        judged=sum(found in GOOD | BAD for found in states),
        groups=groups,
        odd=tuple(address(number) for number in odd),
    )


def refused(issuer: int, acceptor: int, cause: Cause) -> Crossing:
    """Make a refusal."""
    return Crossing(address(issuer), address(acceptor), OfferOutcome.REFUSED, cause=cause)


SPLIT = verdict(TargetState.SPLIT, *[RESUMES] * 3, odd=[2], groups=2)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        pytest.param(
            verdict(TargetState.CONSISTENT, *[RESUMES] * 3),
            "TLS 1.3: all 3 backends accept each other's tickets.",
            id="consistent",
        ),
        pytest.param(
            verdict(TargetState.CONSISTENT, RESUMES), "TLS 1.3: the backend accepts its own tickets.", id="alone"
        ),
        pytest.param(
            verdict(TargetState.CONSISTENT, RESUMES, FAILED, RESUMES, BackendState.UNKNOWN),
            "TLS 1.3: both backends accept each other's tickets. Failed (connect: connection refused): 127.0.0.2:443. "
            "Not judged: 127.0.0.4:443.",
            id="some left out",
        ),
        pytest.param(
            SPLIT,
            "TLS 1.3: backends refuse each other's tickets, in 2 groups. Against the majority: 127.0.0.2:443.",
            id="one odd",
        ),
        pytest.param(
            verdict(TargetState.SPLIT, *[RESUMES] * 2), "TLS 1.3: backends refuse each other's tickets.", id="split"
        ),
        pytest.param(
            verdict(TargetState.SPLIT, *[RESUMES] * 14, odd=range(1, 7)),
            "TLS 1.3: backends refuse each other's tickets. Against the majority: 127.0.0.1:443, 127.0.0.2:443, "
            "127.0.0.3:443, 127.0.0.4:443 and 2 more.",
            id="many odd",
        ),
        pytest.param(
            verdict(TargetState.ONE_WAY, *[RESUMES] * 2, odd=[1], crossings=(refused(1, 2, Cause.KEY),)),
            "TLS 1.3: tickets of these backends are refused by others, whose tickets they accept: 127.0.0.1:443.",
            id="not understood",
        ),
        pytest.param(
            verdict(TargetState.ONE_WAY, *[RESUMES] * 2, odd=[2], crossings=(refused(1, 2, Cause.KEY),)),
            "TLS 1.3: these backends refuse tickets of others, which accept theirs: 127.0.0.2:443.",
            id="not understanding",
        ),
        pytest.param(
            verdict(TargetState.UNEVEN, RESUMES, BackendState.REFUSES, odd=[2]),
            "TLS 1.3: some backends resume sessions, and these do not: 127.0.0.2:443.",
            id="uneven",
        ),
        pytest.param(
            verdict(TargetState.MIXED, BackendState.MIXED, odd=[1]),
            "TLS 1.3: one address answers differently from offer to offer: 127.0.0.1:443.",
            id="mixed",
        ),
        pytest.param(
            replace(
                verdict(TargetState.MIXED, BackendState.MIXED, odd=[1]),
                backends={address(1): BackendVerdict(BackendState.MIXED, census=Census(2, 59, 31, 1.9, 1.5, 2.5))},
            ),
            "TLS 1.3: one address answers differently from offer to offer: 127.0.0.1:443. Seen from here, 2 ticket "
            "keys are in use there, and 31 of 59 kept tickets were accepted.",
            id="mixed, with a census",
        ),
        pytest.param(
            replace(
                verdict(TargetState.MIXED, BackendState.MIXED, odd=[1]),
                backends={address(1): BackendVerdict(BackendState.MIXED, census=Census(0, 60, 20, 3.0, 2.2, 4.4))},
            ),
            "TLS 1.3: one address answers differently from offer to offer: 127.0.0.1:443. Seen from here, about 3 "
            "ticket keys are in use there, and 20 of 60 kept tickets were accepted.",
            id="mixed, and the names are hidden",
        ),
        pytest.param(
            replace(
                verdict(TargetState.CONSISTENT, RESUMES),
                backends={address(1): BackendVerdict(RESUMES, census=Census(2, 9, 9, 1.0, 1.0, 1.4))},
            ),
            "TLS 1.3: the backend accepts its own tickets, of several keys, wherever ours have led.",
            id="several keys, all accepted",
        ),
        pytest.param(
            verdict(TargetState.ROTATING, *[RESUMES] * 3, groups=2),
            "TLS 1.3: the ticket key is being changed; 2 are in use.",
            id="rotating",
        ),
        pytest.param(
            replace(
                verdict(TargetState.CONSISTENT, *[RESUMES] * 2),
                events=tuple(KeyEvent(KeyEventKind.BREAK, address(number)) for number in (2, 1)),
            ),
            "TLS 1.3: both backends accept each other's tickets. Tickets within their life have died at "
            "127.0.0.1:443 and 127.0.0.2:443.",
            id="tickets died",
        ),
        pytest.param(
            replace(
                verdict(TargetState.CONSISTENT, RESUMES),
                backends={
                    address(1): BackendVerdict(RESUMES, survival=Survival(60.0, 1800.0, 3600)),
                    address(2): BackendVerdict(RESUMES, survival=Survival(None, 30.0, 300)),
                    address(3): BackendVerdict(RESUMES, survival=Survival(30.0, 400.0, 300)),
                },
            ),
            "TLS 1.3: the backend accepts its own tickets. At 127.0.0.2:443, a ticket was refused at an age of 30 s, "
            "although 300 s were promised.",
            id="a life that was promised and not kept",
        ),
        pytest.param(
            verdict(TargetState.BROKEN, BackendState.REFUSES),
            "TLS 1.3: sessions were offered back to the backend, and none was resumed, not even at home.",
            id="broken",
        ),
        pytest.param(
            verdict(TargetState.NO_TICKETS, *[BackendState.NO_TICKETS] * 2),
            "TLS 1.3: both backends gave nothing to resume with.",
            id="no tickets",
        ),
        pytest.param(
            verdict(TargetState.NO_TICKETS, BackendState.NO_TICKETS, crossings=(refused(1, 1, Cause.UNEXPLAINED),)),
            "TLS 1.3: the backend gave no tickets, and did not take the session ids back that came instead.",
            id="session ids that are not taken back",
        ),
        pytest.param(
            verdict(TargetState.STATEFUL, *[STATEFUL] * 2),
            "TLS 1.3: each backend resumes the sessions that it keeps itself, and no other's.",
            id="stateful",
        ),
        pytest.param(
            verdict(TargetState.UNKNOWN, FAILED),
            "TLS 1.3: no backend could be judged. Failed (connect: connection refused): 127.0.0.1:443.",
            id="down",
        ),
        pytest.param(
            verdict(TargetState.UNKNOWN, *[RESUMES] * 2),
            "TLS 1.3: the backends resume, but too little was seen of their taking each other's tickets.",
            id="too little",
        ),
        pytest.param(
            verdict(TargetState.UNKNOWN, *[BackendState.NOT_SPOKEN] * 2),
            "TLS 1.3: not spoken by either backend.",
            id="not spoken",
        ),
    ],
)
def test_text(found: VersionVerdict, text: str) -> None:
    """The sentence says what was seen and names the odd ones."""
    assert explain(TLS13, found).text == text


HEALTHY = {
    SHARED: {TargetState.CONSISTENT, TargetState.ROTATING},
    PER_BACKEND: {
        TargetState.CONSISTENT,
        TargetState.ROTATING,
        TargetState.STATEFUL,
        TargetState.SPLIT,
        TargetState.ONE_WAY,
    },
    OFF: {TargetState.NO_TICKETS, TargetState.BROKEN},
    ANY: set(TargetState) - {TargetState.UNKNOWN},
}


@pytest.mark.parametrize("meant", Resumption)
@pytest.mark.parametrize("state", TargetState)
def test_what_was_meant_decides_what_is_a_finding(state: TargetState, meant: Resumption) -> None:
    """The same state is well or ill by what the owner meant, and what is ill comes with advice."""
    explanation = explain(TLS12, verdict(state, *[RESUMES] * 2), meant)

    assert explanation.healthy is (state in HEALTHY[meant])
    assert bool(explanation.advice) is not explanation.healthy


def test_state_of_a_lone_backend_is_well() -> None:
    """Where there is only one backend, it shares its sessions with all there are."""
    assert explain(TLS13, verdict(TargetState.STATEFUL, STATEFUL)) == Explanation(
        "TLS 1.3: the backend resumes sessions that it keeps itself.", "", healthy=True
    )


def test_a_version_that_nobody_speaks_is_well() -> None:
    """Not to speak a version is a choice."""
    assert explain(TLS12, verdict(TargetState.UNKNOWN, BackendState.NOT_SPOKEN)).healthy


def test_a_failed_backend_is_never_well() -> None:
    """However well the others stand to each other, one that is down is a finding."""
    assert not explain(TLS13, verdict(TargetState.CONSISTENT, RESUMES, FAILED)).healthy


@pytest.mark.parametrize(
    ("found", "missing", "expected"),
    [
        pytest.param(
            verdict(TargetState.UNKNOWN),
            Failure(Stage.RESOLVE, Reason.NO_SUCH_NAME, "gone.test: unknown"),
            "TLS 1.3: no backend could be judged. Failed (resolve: no such name).",
            id="no such name",
        ),
        pytest.param(
            verdict(TargetState.UNKNOWN),
            Failure(Stage.HANDSHAKE, Reason.NOT_TLS),
            "TLS 1.3: no backend could be judged. Failed (handshake: not TLS).",
            id="not TLS",
        ),
        pytest.param(
            verdict(TargetState.UNKNOWN, FAILED),
            None,
            "TLS 1.3: no backend could be judged. Failed (connect: connection refused): 127.0.0.1:443.",
            id="refused",
        ),
    ],
)
def test_who_failed_is_to_be_mended(found: VersionVerdict, missing: Failure | None, expected: str) -> None:
    """Where the reason is known, it stands in the sentence, and nobody is sent to look for it."""
    explanation = explain(TLS13, found, missing=missing)

    assert expected == explanation.text
    assert "Mend what failed" in explanation.advice


@pytest.mark.parametrize("meant", Resumption)
def test_a_backend_that_kills_is_never_well(meant: Resumption) -> None:
    """A ticket that ends the connection is an outage for whoever holds it, whatever was meant."""
    explanation = explain(TLS13, verdict(TargetState.UNEVEN, RESUMES, BackendState.KILLS, odd=[2]), meant)

    assert not explanation.healthy
    assert "127.0.0.2:443" in explanation.advice


@pytest.mark.parametrize(
    ("causes", "word"),
    [
        pytest.param([Cause.KEY], "ssl_session_ticket_key", id="key"),
        pytest.param([Cause.CERTIFICATE], "same certificate", id="certificate"),
        pytest.param([Cause.CIPHER], "same cipher settings", id="cipher"),
        pytest.param([Cause.VERSION], "same protocol settings", id="version"),
        pytest.param([Cause.UNEXPLAINED], "ssl_session_ticket_key", id="unexplained"),
        pytest.param([Cause.KEY, Cause.CERTIFICATE], "ssl_session_ticket_key", id="several"),
    ],
)
def test_advice_follows_the_cause(causes: Sequence[Cause], word: str) -> None:
    """A split is to be mended where it comes from."""
    crossings = tuple(refused(1, 2, cause) for cause in causes)
    split = verdict(TargetState.SPLIT, *[RESUMES] * 2, crossings=crossings)

    assert word in explain(TLS13, split).advice


def test_resumption_that_is_meant_to_be_off() -> None:
    """Sessions that resume against the owner's intent are the finding, not how well they do."""
    assert "switch it off" in explain(TLS13, SPLIT, OFF).advice
