"""When series begin, and when they are gone."""

from dataclasses import replace

import pytest

from exporter.metrics.ledger import Ledger
from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.observation import Observation, Origin, Ticket
from exporter.model.target import Address, Expect, Resumption
from exporter.model.verdicts import Cause, KeyEvent, KeyEventKind, TargetState, VersionVerdict
from tests.metrics.parsed import Scrape
from tests.metrics.rounds import (
    TLS12,
    TLS13,
    A,
    B,
    C,
    certificate,
    full,
    lost,
    offered,
    round_of,
    target,
)

RESET = Failure(Stage.HANDSHAKE, Reason.RESET)


def fold(*observations: Observation, backends: tuple[Address, ...] = (A, B)) -> Scrape:
    """Scrape after a single round."""
    ledger = Ledger()
    ledger.fold(round_of(target(), backends, observations))
    return Scrape(ledger)


def test_counters_begin_at_zero_before_the_first_round() -> None:
    """A target that was only admitted has each counter that can move without a backend, at 0."""
    ledger = Ledger()
    ledger.admit(target(versions=(TLS12, TLS13)))

    scrape = Scrape(ledger)

    elsewhere = {Stage.PROXY, Stage.STARTTLS}
    pairs = [(stage, why) for stage, reasons in STAGE_REASONS.items() if stage not in elsewhere for why in reasons]
    assert [0] * len(pairs) == [scrape.value("failures_total", stage=stage, reason=reason) for stage, reason in pairs]
    assert len(pairs) == len(scrape.labels("failures_total"))
    for tls in (TLS12, TLS13):
        assert {0} == {scrape.value("resumption_refusals_total", tls=tls, cause=cause) for cause in Cause}
        assert 0 == scrape.value("resumption_killed_total", tls=tls)
        assert 0 == scrape.value("handshake_duration_seconds_count", tls=tls, mode="resumed")
    assert (None, 0) == tuple(scrape.value("hello_retries_total", tls=tls) for tls in (TLS12, TLS13))
    assert (0, 0, 0) == tuple(scrape.value(f"{name}_total") for name in ("rounds", "round_overruns", "series_capped"))
    assert scrape.value("last_round_timestamp_seconds") is None


def test_a_backend_has_its_counters_as_soon_as_it_is_seen() -> None:
    """Attempts of both origins are there at 0 although nothing was offered yet."""
    scrape = fold(lost(A, RESET))

    assert 0 == scrape.value("resumption_attempts_total", backend=A, tls=TLS13, origin="self")
    assert 0 == scrape.value("resumptions_total", backend=B, tls=TLS13, origin="peer")
    assert 0 == scrape.value("tickets_received_total", backend=B, tls=TLS13)
    assert 0 == scrape.value("http_requests_total", backend=B, connection="new")


def test_a_single_backend_has_no_peers() -> None:
    """Without a neighbour the counter of peers cannot move, so it is absent."""
    assert [{"backend": str(A), "target": "shop", "tls": "1.3", "origin": "self"}] == fold(backends=(A,)).labels(
        "resumption_attempts_total"
    )


@pytest.mark.parametrize(
    ("observation", "survival", "expected"),
    [
        pytest.param(full(tickets=(Ticket(b"", 61),)), True, 0, id="just long enough"),
        pytest.param(full(tickets=(Ticket(b"", 60),)), True, None, id="a minute"),
        pytest.param(full(tickets=(Ticket(b"", 0),)), True, 0, id="without a hint"),
        pytest.param(full(tickets=(Ticket(b"", 5), Ticket(b"", 300))), True, 0, id="one of two"),
        pytest.param(full(tickets=(), session_id=True), True, 0, id="a session id"),
        pytest.param(full(tickets=()), True, None, id="no session at all"),
        pytest.param(full(), False, None, id="none are kept back"),
        pytest.param(offered(), True, None, id="not from a full handshake"),
    ],
)
def test_aged_sessions_are_counted_once_there_can_be_one(
    observation: Observation, survival: bool, expected: int | None
) -> None:
    """A session that lives for over a minute, or does not say how long, will be offered when it is old."""
    ledger = Ledger()
    ledger.fold(round_of(target(survival=survival), (A, B), [observation]))
    ledger.fold(round_of(target(survival=survival), (A, B)))

    scrape = Scrape(ledger)

    names = ("resumption_attempts_total", "resumptions_total")
    assert [expected] * 2 == [scrape.value(name, backend=A, tls=TLS13, origin="aged") for name in names]
    assert scrape.value("resumptions_total", backend=B, tls=TLS13, origin="aged") is None


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        pytest.param(full(B), 0, id="it had issued tickets"),
        pytest.param(full(B, tickets=()), None, id="it had issued none"),
        pytest.param(full(B, TLS12), None, id="in another version"),
    ],
)
def test_sessions_of_the_departed_are_counted_at_those_who_are_asked(last: Observation, expected: int | None) -> None:
    """When a backend leaves, what it issued will be offered to the others, to those that come later, too."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A, B), [last]))
    before = Scrape(ledger)
    ledger.fold(round_of(target(), (A,)))
    ledger.fold(round_of(target(), (A, C), [offered(C, issuer=B, origin=Origin.DEPARTED, resumed=False)]))
    after = Scrape(ledger)

    assert [] == [labels for labels in before.labels("resumptions_total") if labels["origin"] == "departed"]
    assert expected == after.value("resumption_attempts_total", backend=A, tls=TLS13, origin="departed")
    assert (1, 0) == tuple(
        after.value(name, backend=C, tls=TLS13, origin="departed")
        for name in ("resumption_attempts_total", "resumptions_total")
    )


def test_key_events_outlive_their_backend() -> None:
    """Changes and breaks are there at 0 from admission on, and a backend that leaves takes none of them along."""
    ledger = Ledger()
    ledger.admit(target())
    admitted = Scrape(ledger)
    kinds = (KeyEventKind.CHANGE, KeyEventKind.CHANGE, KeyEventKind.BREAK)
    events = tuple(KeyEvent(kind, B) for kind in kinds)
    rotating = VersionVerdict(TargetState.ROTATING, events=events)
    ledger.fold(round_of(target(), (A, B), verdicts={TLS13: rotating}))
    ledger.fold(round_of(target(), (A,), verdicts={TLS13: VersionVerdict(TargetState.CONSISTENT)}))
    ledger.fold(round_of(target(), (A,)))
    later = Scrape(ledger)

    names = ("ticket_key_changes_total", "ticket_key_breaks_total")
    assert (0, 0) == tuple(admitted.value(name, tls=TLS13) for name in names)
    assert (2, 1) == tuple(later.value(name, tls=TLS13) for name in names)


def test_a_version_that_is_not_spoken_has_no_session_counters() -> None:
    """They appear when the backend first speaks it."""
    ledger, both = Ledger(), target(versions=(TLS12, TLS13))

    ledger.fold(round_of(both, (A,), supported={(A, TLS12): False}))
    before = Scrape(ledger)
    ledger.fold(round_of(both, (A,), supported={(A, TLS12): True}))
    after = Scrape(ledger)

    assert (0, None) == (
        before.value("version_supported", backend=A, tls=TLS12),
        before.value("tickets_received_total"),
    )
    assert {"1.3"} == {labels["tls"] for labels in before.labels("tickets_received_total")}
    assert (1, 0) == tuple(
        after.value(name, backend=A, tls=TLS12) for name in ("version_supported", "tickets_received_total")
    )


def test_an_unreached_backend_keeps_its_last_facts() -> None:
    """A round that ended early says nothing about those whose turn did not come."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A, B), [full(A), full(B)]))
    ledger.fold(
        round_of(target(), (A, B), [full(A)], failures=((B, Failure(Stage.PROBE, Reason.UNREACHED)),), unreached=(B,))
    )

    scrape = Scrape(ledger)

    assert 1 == scrape.value("success", backend=B)
    assert 0.003 == scrape.value("backend_handshake_seconds", backend=B, tls=TLS13, mode="full")
    assert 1 == scrape.value("failures_total", stage="probe", reason="unreached")


def test_a_backend_that_goes_down_loses_the_facts_of_its_connections() -> None:
    """Old times, certificates and tickets do not stand in for new ones; what was counted stays."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,), [full(), offered()]))
    ledger.fold(round_of(target(), (A,), [lost(A, RESET)], failures=((A, RESET),)))

    scrape = Scrape(ledger)

    at = {"backend": A, "tls": TLS13}
    assert 0 == scrape.value("success", backend=A)
    assert scrape.value("rtt_seconds", backend=A) is None
    assert scrape.value("backend_handshake_seconds", mode="full", **at) is None
    assert scrape.value("certificate_not_after_timestamp_seconds", **at) is None
    assert scrape.value("certificates", tls=TLS13) is None
    assert 1 == scrape.value("resumptions_total", origin="self", **at)


def test_a_vanished_backend_takes_its_series_along() -> None:
    """After the round that no longer knew it nothing names it, and if it comes back its counters begin at 0."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A, B), [full(A), offered(A), full(B), offered(B)], supported={(B, TLS13): True}))
    ledger.fold(round_of(target(), (A,), [full(A), offered(A)]))
    gone = Scrape(ledger)
    ledger.fold(round_of(target(), (A, B)))
    back = Scrape(ledger)

    assert [] == [labels for _, labels in gone.series if ("backend", str(B)) in labels]
    assert (1, 2) == (gone.value("backends"), gone.value("resumptions_total", backend=A, tls=TLS13, origin="self"))
    assert 0 == back.value("resumptions_total", backend=B, tls=TLS13, origin="self")
    assert 3 == back.value("handshake_duration_seconds_count", tls=TLS13, mode="full")


def test_only_the_first_backends_have_series() -> None:
    """Backends beyond the cap are counted at each round; their handshakes are in the histograms all the same."""
    ledger = Ledger(max_backends=2)
    for _ in range(2):
        ledger.fold(round_of(target(), (A, B, C), [full(A), full(B), full(C, leaf=certificate(b"\x02" * 32))]))
    full_house = Scrape(ledger)
    ledger.fold(round_of(target(), (A, C), [full(A), full(C)]))
    moved_up = Scrape(ledger)

    assert {str(A), str(B)} == {labels["backend"] for labels in full_house.labels("success")}
    assert (2, 3, 2) == (
        full_house.value("series_capped_total"),
        full_house.value("backends"),
        full_house.value("certificates", tls=TLS13),
    )
    assert 6 == full_house.value("handshake_duration_seconds_count", tls=TLS13, mode="full")
    assert {str(A), str(C)} == {labels["backend"] for labels in moved_up.labels("success")}
    assert 2 == moved_up.value("series_capped_total")


def test_addresses_beyond_the_bound_are_counted() -> None:
    """Each round counts the addresses that were not probed, from 0 on."""
    ledger = Ledger()
    ledger.admit(target())
    counts = [Scrape(ledger).value("backends_left_out_total")]
    for left_out in (3, 0, 2):
        ledger.fold(replace(round_of(target(), (A,), [full()]), left_out=left_out))
        counts.append(Scrape(ledger).value("backends_left_out_total"))

    assert [0, 3, 3, 5] == counts


def test_without_http_there_are_no_series_of_it() -> None:
    """A target whose probes make no request shows no requests, not zero of them."""
    ledger = Ledger()
    ledger.fold(round_of(target(http=False), (A, B), [full(A, http=None), offered(B)]))

    scrape = Scrape(ledger)

    assert [] == scrape.labels("http_requests_total") + scrape.labels("http_request_duration_seconds_count")
    assert (1, 0) == tuple(scrape.value("success", backend=backend) for backend in (A, B))


def test_new_settings_keep_what_was_counted() -> None:
    """Admitting a target again changes its promises and versions; only the counts of a dropped version are gone."""
    ledger = Ledger()
    ledger.fold(round_of(target(versions=(TLS12, TLS13)), (A,), [full(), full(version=TLS12)]))
    ledger.admit(target(expect=Expect(Resumption.OFF, min_backends=3)))

    scrape = Scrape(ledger)

    assert (1, 3) == (scrape.value("expect_resumption", resumption="off"), scrape.value("expect_min_backends"))
    assert 1 == scrape.value("handshake_duration_seconds_count", tls=TLS13, mode="full")
    assert [] == [labels for _, labels in scrape.series if ("tls", "1.2") in labels]


def test_a_forgotten_target_is_gone() -> None:
    """Nothing remains of it, and missed rounds of a target that is not known are nobody's."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,), [full()]))
    ledger.missed("shop", 2)
    before = Scrape(ledger).value("round_overruns_total")
    ledger.forget("shop")
    ledger.forget("shop")
    ledger.missed("shop", 2)

    assert (2, {}, ()) == (before, Scrape(ledger).series, ledger.names())


def test_failure_outside_a_round_is_counted() -> None:
    """A round that came to no result by a bug of ours is a failure of its target, and of no other."""
    ledger = Ledger()
    ledger.admit(target())
    ledger.failed(target().name, Failure(Stage.PROBE, Reason.BUG))
    ledger.failed("unknown", Failure(Stage.PROBE, Reason.BUG))

    assert 1 == ledger.read(target().name, lambda account: account.failures[Stage.PROBE, Reason.BUG])
