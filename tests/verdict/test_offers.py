"""How one offer ends, and why it was refused."""

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake, Observation, Offer, Origin, Ticket, TlsFacts
from exporter.model.target import TlsVersion
from exporter.model.verdicts import Cause, OfferOutcome
from exporter.verdict.causes import cause_of
from exporter.verdict.offers import outcome_of
from tests.verdict.fleet import TLS12, TLS13, address, certificate, shaken

HERE = address(1)
OFFER = Offer(HERE, Origin.SELF, 1.0, Ticket(b"t" * 176, 300))
A, B = b"A" * 16, b"B" * 16


def handshake(*, resumed: bool, offered: bool) -> Handshake:
    """Make a handshake that was asked to resume, or not."""
    return shaken(TlsFacts(version=TLS13, cipher="c", resumed=resumed, offered=offered))


@pytest.mark.parametrize(
    ("outcome", "confirmed", "expected"),
    [
        pytest.param(handshake(resumed=True, offered=True), False, OfferOutcome.ACCEPTED, id="resumed"),
        pytest.param(handshake(resumed=False, offered=True), False, OfferOutcome.REFUSED, id="full all the same"),
        pytest.param(handshake(resumed=False, offered=False), False, OfferOutcome.NOT_OFFERED, id="left out"),
        pytest.param(Failure(Stage.HANDSHAKE, Reason.RESET), True, OfferOutcome.KILLED, id="works without"),
        pytest.param(Failure(Stage.HANDSHAKE, Reason.RESET), False, OfferOutcome.ERROR, id="not proven"),
        pytest.param(Failure(Stage.CONNECT, Reason.TIMEOUT), True, OfferOutcome.ERROR, id="before the ticket went out"),
        pytest.param(Failure(Stage.PROBE, Reason.STARVED), True, OfferOutcome.ERROR, id="our own fault"),
    ],
)
def test_outcome_of(outcome: Handshake | Failure, confirmed: bool, expected: OfferOutcome) -> None:
    """Only what the handshake itself proves is laid to the offer."""
    assert outcome_of(Observation(HERE, TLS13, OFFER, outcome, confirmed=confirmed)) is expected


def test_a_full_handshake_offers_nothing() -> None:
    """Asking for the outcome of an offer that was never meant is a mistake of the caller's."""
    with pytest.raises(ValueError, match="offers nothing"):
        outcome_of(Observation(HERE, TLS13, None, handshake(resumed=False, offered=False)))


def facts(version: TlsVersion = TLS13, leaf: bytes = b"leaf", cipher: str = "c") -> TlsFacts:
    """Make the facts of a full handshake."""
    return TlsFacts(version=version, cipher=cipher, certificate=certificate(leaf))


@pytest.mark.parametrize(
    ("age", "keys", "issuer", "spent", "expected"),
    [
        pytest.param(1.0, (A, B), facts(), False, Cause.KEY, id="another key"),
        pytest.param(1.0, (A, B), facts(leaf=b"new"), True, Cause.KEY, id="another key before all else"),
        pytest.param(300.0, (A, B), facts(), False, Cause.EXPIRED, id="at the end of its life"),
        pytest.param(299.9, (A, A), facts(), False, Cause.UNEXPLAINED, id="just within its life"),
        pytest.param(1.0, (A, A), facts(), True, Cause.SINGLE_USE, id="used before"),
        pytest.param(1.0, (A, A), facts(leaf=b"new"), False, Cause.CERTIFICATE, id="another certificate"),
        pytest.param(1.0, (A, A), facts(cipher="d"), False, Cause.CIPHER, id="another cipher"),
        pytest.param(1.0, (A, A), facts(TLS12), False, Cause.VERSION, id="another version"),
        pytest.param(1.0, (A, A), None, False, Cause.UNEXPLAINED, id="nothing known of the issuer"),
        pytest.param(1.0, (None, None), facts(leaf=b"new"), False, Cause.UNEXPLAINED, id="hidden keys"),
        pytest.param(1.0, (A, None), facts(leaf=b"new"), False, Cause.UNEXPLAINED, id="nothing issued"),
        pytest.param(1.0, (b"\0\0\0\1",) * 2, facts(leaf=b"new"), False, Cause.UNEXPLAINED, id="counters may collide"),
        pytest.param(1.0, (b"\0\0\0\1", b"\0\0\0\2"), facts(), False, Cause.KEY, id="counters that differ"),
    ],
)
def test_cause_of(
    age: float, keys: tuple[bytes | None, bytes | None], issuer: TlsFacts | None, spent: bool, expected: Cause
) -> None:
    """A refusal is laid to the key only where the key says so, and to nothing without a sign."""
    offer = Offer(HERE, Origin.PEER, age, Ticket(b"t" * 176, 300))

    assert cause_of(offer, facts(), issuer, keys=keys, spent=spent) is expected


def test_a_lifetime_of_nothing_does_not_expire() -> None:
    """A lifetime of 0 in TLS 1.2 says nothing."""
    offer = Offer(HERE, Origin.SELF, 1e6, Ticket(b"t", 0))

    assert cause_of(offer, facts(), facts(), keys=(None, None), spent=False) is Cause.UNEXPLAINED


@pytest.mark.parametrize(
    ("acceptor", "issuer", "expected"),
    [
        pytest.param(TLS12, TLS12, Cause.SESSION_ID, id="TLS 1.2"),
        pytest.param(TLS12, None, Cause.SESSION_ID, id="nothing known of the issuer"),
        pytest.param(TLS12, TLS13, Cause.UNEXPLAINED, id="another version"),
        pytest.param(TLS13, TLS13, Cause.UNEXPLAINED, id="TLS 1.3, whose ticket is not shown"),
    ],
)
def test_a_session_id(acceptor: TlsVersion, issuer: TlsVersion | None, expected: Cause) -> None:
    """What is offered without a ticket in TLS 1.2 is a session id, which has no life that could end."""
    offer = Offer(HERE, Origin.SELF, 1e6, None)
    told = cause_of(offer, facts(acceptor), facts(issuer) if issuer else None, keys=(None, None), spent=False)

    assert told is expected
