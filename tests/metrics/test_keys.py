"""What is shown of ticket keys, and what is absent because nobody knows it."""

import pytest

from exporter.metrics.ledger import Ledger
from exporter.model.observation import Ticket
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Census,
    Mechanism,
    Survival,
    TargetState,
    VersionVerdict,
    Weakness,
)
from tests.metrics.parsed import Scrape
from tests.metrics.rounds import STARTED, TICKET, TLS13, A, full, round_of, target


def show(verdict: BackendVerdict, *tickets: Ticket) -> Scrape:
    """Scrape after a single round of one backend."""
    ledger = Ledger()
    verdicts = {TLS13: VersionVerdict(TargetState.CONSISTENT, {A: verdict})}
    ledger.fold(round_of(target(), (A,), [full(tickets=tickets)], verdicts=verdicts))
    return Scrape(ledger)


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        pytest.param(BackendVerdict(BackendState.RESUMES), {}, id="nothing known"),
        pytest.param(
            BackendVerdict(BackendState.RESUMES, Mechanism.RFC5077, key_since=STARTED, keys_seen=3),
            {"key_first_seen_timestamp_seconds": STARTED, "keys_seen": 3},
            id="keys with names",
        ),
        pytest.param(
            BackendVerdict(BackendState.RESUMES, survival=Survival(oldest_accepted=0.0)),
            {"oldest_accepted_seconds": 0},
            id="a ticket was accepted",
        ),
        pytest.param(
            BackendVerdict(BackendState.RESUMES, survival=Survival(60.5, 150.25, 300)),
            {"oldest_accepted_seconds": 60.5, "youngest_refused_seconds": 150.25},
            id="and one refused",
        ),
        pytest.param(
            BackendVerdict(BackendState.MIXED, census=Census(keys=2, offers=8, hits=4)),
            {"key_census_keys": 2, "key_census_offers": 8, "key_census_hits": 4},
            id="a census with names",
        ),
        pytest.param(
            BackendVerdict(BackendState.UNKNOWN, Mechanism.HIDDEN, census=Census(keys=0, offers=1, hits=0)),
            {"key_census_offers": 1, "key_census_hits": 0},
            id="a census without",
        ),
    ],
)
def test_what_is_known_of_a_backends_key(verdict: BackendVerdict, expected: dict[str, float]) -> None:
    """A gauge is there as soon as there is something to say, and not before."""
    scrape = show(verdict)

    names = (
        "key_first_seen_timestamp_seconds",
        "keys_seen",
        "oldest_accepted_seconds",
        "youngest_refused_seconds",
        "key_census_keys",
        "key_census_offers",
        "key_census_hits",
    )
    shown = {name: scrape.value(f"ticket_{name}", backend=A, tls=TLS13) for name in names}
    assert expected == {name: value for name, value in shown.items() if value is not None}


@pytest.mark.parametrize(
    ("weakness", "tickets", "expected"),
    [
        pytest.param(None, (), None, id="no ticket"),
        pytest.param(None, (TICKET,), 0, id="nothing is wrong with it"),
        *(pytest.param(weakness, (TICKET,), 1, id=weakness) for weakness in Weakness),
        pytest.param(Weakness.ZERO_KEY, (), 1, id="known from earlier on"),
    ],
)
def test_weak_keys(weakness: Weakness | None, tickets: tuple[Ticket, ...], expected: int | None) -> None:
    """A key is called good only if there was a ticket to judge by."""
    verdict = BackendVerdict(BackendState.RESUMES, weakness=weakness)

    assert expected == show(verdict, *tickets).value("ticket_key_weak", backend=A, tls=TLS13)


@pytest.mark.parametrize("state", TargetState)
def test_one_state_holds(state: TargetState) -> None:
    """Every state has its series, and the one that holds is the only 1."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,), verdicts={TLS13: VersionVerdict(state)}))

    scrape = Scrape(ledger)

    shown = {each: scrape.value("ticket_key_state", tls=TLS13, state=each) for each in TargetState}
    assert {each: float(each is state) for each in TargetState} == shown
