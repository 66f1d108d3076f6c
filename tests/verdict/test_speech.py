"""What is not spoken, what failed, and what is listed as a failure."""

import pytest

from exporter.model.connections import HttpAnswer
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake, Observation, Offer, Origin, TlsFacts
from exporter.model.target import Endpoint, Target, TlsVersion
from exporter.model.verdicts import BackendState
from exporter.verdict.history import EMPTY, History
from exporter.verdict.judge import judge
from tests.verdict.fleet import NOW, TLS12, TLS13, address, shaken

HERE = address(1)
DENIED = Failure(Stage.HANDSHAKE, Reason.ALERT_PROTOCOL_VERSION)
TURNED_AWAY = Failure(Stage.HANDSHAKE, Reason.ALERT_HANDSHAKE_FAILURE)
HUNG_UP = Failure(Stage.HANDSHAKE, Reason.CLOSED)
RESET = Failure(Stage.HANDSHAKE, Reason.RESET)
LATE = Failure(Stage.HANDSHAKE, Reason.TIMEOUT)
DOWN = Failure(Stage.CONNECT, Reason.CONNECTION_REFUSED)
OURS = Failure(Stage.PROBE, Reason.STARVED)
SHORT = Failure(Stage.CONNECT, Reason.LOCAL_RESOURCES)
TARGET = Target("t", Endpoint("site.test", 443), "site.test")


def works(version: TlsVersion) -> Handshake:
    """Make a full handshake of a version."""
    return shaken(TlsFacts(version=version, cipher="c"))


def seen(version: TlsVersion, outcome: Handshake | Failure) -> Observation:
    """Make the observation of a full handshake."""
    return Observation(HERE, version, None, outcome)


def history(*spoken: TlsVersion) -> History:
    """Remember that these versions were spoken before."""
    return judge(TARGET, (HERE,), [seen(version, works(version)) for version in spoken], EMPTY, now=NOW).history


FAILED, NOT_SPOKEN, UNKNOWN = BackendState.FAILED, BackendState.NOT_SPOKEN, BackendState.UNKNOWN


@pytest.mark.parametrize(
    ("outcome", "other", "before", "expected", "supported"),
    [
        pytest.param(DENIED, works(TLS13), EMPTY, NOT_SPOKEN, False, id="denied"),
        pytest.param(DENIED, LATE, EMPTY, FAILED, False, id="denied, and nothing else works"),
        pytest.param(DENIED, LATE, history(TLS13), NOT_SPOKEN, False, id="denied, and the other is in trouble"),
        pytest.param(DENIED, DENIED, history(TLS12, TLS13), FAILED, False, id="all denied of a sudden"),
        pytest.param(TURNED_AWAY, works(TLS13), EMPTY, NOT_SPOKEN, False, id="turned away"),
        pytest.param(TURNED_AWAY, LATE, history(TLS13), FAILED, None, id="turned away, and nothing else works"),
        pytest.param(HUNG_UP, works(TLS13), EMPTY, NOT_SPOKEN, False, id="hung up"),
        pytest.param(RESET, works(TLS13), EMPTY, NOT_SPOKEN, False, id="reset"),
        pytest.param(HUNG_UP, works(TLS13), history(TLS12), FAILED, True, id="hung up on what it spoke before"),
        pytest.param(HUNG_UP, LATE, EMPTY, FAILED, None, id="hung up, and nothing else works"),
        pytest.param(LATE, works(TLS13), EMPTY, FAILED, None, id="no answer"),
        pytest.param(DOWN, DOWN, EMPTY, FAILED, None, id="down"),
        pytest.param(DOWN, DOWN, history(TLS12), FAILED, True, id="down, and spoken before"),
        pytest.param(OURS, works(TLS13), EMPTY, UNKNOWN, None, id="starved"),
        pytest.param(SHORT, works(TLS13), EMPTY, UNKNOWN, None, id="out of descriptors"),
    ],
)
def test_version_not_spoken(
    outcome: Failure, other: Handshake | Failure, before: History, expected: BackendState, supported: bool | None
) -> None:
    """A version that is not spoken is a fact where the backend is up, and a failure where nothing works."""
    judgement = judge(TARGET, (HERE,), [seen(TLS12, outcome), seen(TLS13, other)], before, now=NOW)
    backend = judgement.verdicts[TLS12].backends[HERE]

    assert backend.state is expected
    assert judgement.supported.get((HERE, TLS12)) is supported
    assert backend.failure == (outcome if expected is FAILED else None)
    assert ((HERE, outcome) in judgement.failures) is (expected is not NOT_SPOKEN)


def test_a_full_handshake_that_fails_is_failed_even_if_sessions_resume() -> None:
    """New clients cannot come in, so the backend has failed, whatever old ones get."""
    resumed = shaken(TlsFacts(version=TLS13, cipher="c", resumed=True, offered=True))
    offer = Observation(HERE, TLS13, Offer(HERE, Origin.SELF, 30.0), resumed)

    judgement = judge(TARGET, (HERE,), [offer, seen(TLS13, LATE)], EMPTY, now=NOW)

    assert judgement.verdicts[TLS13].backends[HERE].state is FAILED


def test_one_full_handshake_that_works_is_enough() -> None:
    """A backend that answers the second time is up, and the failure is told all the same."""
    judgement = judge(TARGET, (HERE,), [seen(TLS13, RESET), seen(TLS13, works(TLS13))], EMPTY, now=NOW)

    assert judgement.verdicts[TLS13].backends[HERE].state is not FAILED
    assert judgement.failures == ((HERE, RESET),)


def test_failures_ride_on_handshakes_too() -> None:
    """A certificate that does not verify and a request that fails are failures of a handshake that was completed."""
    expired = Failure(Stage.VERIFY, Reason.EXPIRED)
    teapot = Failure(Stage.HTTP, Reason.UNEXPECTED_STATUS)
    whole = works(TLS13)
    observations = [
        seen(TLS13, Handshake(whole.tls, whole.timing, expired, teapot)),
        seen(TLS13, Handshake(whole.tls, whole.timing, None, HttpAnswer(200, "1.1", 2, 0.001, keep_alive=True))),
        Observation(HERE, TLS13, Offer(HERE, Origin.SELF, 1.0), LATE, confirmed=True),
    ]

    assert judge(TARGET, (HERE,), observations, EMPTY, now=NOW).failures == (
        (HERE, expired),
        (HERE, teapot),
        (HERE, LATE),
    )


def test_not_spoken_holds_until_it_is_tried_again() -> None:
    """A version is tried only every tenth round, and stays not spoken in between."""
    judgement = judge(TARGET, (HERE,), [seen(TLS12, DENIED), seen(TLS13, works(TLS13))], EMPTY, now=NOW)
    for _ in range(9):
        judgement = judge(TARGET, (HERE,), [seen(TLS13, works(TLS13))], judgement.history, now=NOW)
        assert judgement.verdicts[TLS12].backends[HERE].state is NOT_SPOKEN
        assert judgement.supported[HERE, TLS12] is False

    judgement = judge(TARGET, (HERE,), [seen(TLS12, works(TLS12))], judgement.history, now=NOW)

    assert judgement.supported[HERE, TLS12] is True
    assert judgement.verdicts[TLS12].backends[HERE].state is not NOT_SPOKEN
