"""What a round's result adds to the counts and facts of its target."""

from collections.abc import Sequence

import pytest

from exporter.metrics.ledger import Ledger
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Observation, Origin, Ticket, Timing
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import Cause, Crossing, OfferOutcome, TargetState, VersionVerdict
from tests.metrics.parsed import Scrape
from tests.metrics.rounds import (
    LEAF,
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
    timing,
)

RESET = Failure(Stage.HANDSHAKE, Reason.RESET)
BAD_STATUS = Failure(Stage.HTTP, Reason.UNEXPECTED_STATUS)
EXPIRED = Failure(Stage.VERIFY, Reason.EXPIRED)


def fold(*observations: Observation, backends: tuple[Address, ...] = (A, B)) -> Scrape:
    """Scrape after a single round."""
    ledger = Ledger()
    ledger.fold(round_of(target(), backends, observations))
    return Scrape(ledger)


@pytest.mark.parametrize(
    ("observations", "expected"),
    [
        pytest.param([full()], 1, id="a full handshake with its answer"),
        pytest.param([full(http=None)], 0, id="the request was never sent"),
        pytest.param([full(verify_failure=EXPIRED)], 0, id="the certificate is expired"),
        pytest.param([full(http=BAD_STATUS)], 0, id="the status was not expected"),
        pytest.param([lost(A, RESET)], 0, id="no handshake"),
        pytest.param([offered()], 0, id="only a resumed handshake"),
        pytest.param([offered(resumed=False)], 0, id="only a refused offer"),
        pytest.param([full(version=TLS12), lost(A, RESET)], 0, id="a version that is not configured does not count"),
        pytest.param([full(), lost(A, RESET)], 1, id="one good handshake is enough"),
        pytest.param([], None, id="its turn did not come"),
    ],
)
def test_success(observations: Sequence[Observation], expected: int | None) -> None:
    """A backend succeeds by one full handshake, verified and answered; of one that was not asked nothing is said."""
    assert expected == fold(*observations).value("success", backend=A)


@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        pytest.param(offered(), (1, 1, 0, 0), id="accepted"),
        pytest.param(offered(resumed=False), (1, 0, 0, 0), id="refused"),
        pytest.param(lost(A, RESET, offer=True, confirmed=True), (1, 0, 1, 0), id="killed"),
        pytest.param(offered(resumed=False, shown=False), (0, 0, 0, 1), id="not offered"),
        pytest.param(lost(A, RESET, offer=True), (0, 0, 0, 0), id="lost to the network"),
        pytest.param(full(), (0, 0, 0, 0), id="nothing to offer"),
    ],
)
def test_offers(observation: Observation, expected: tuple[int, int, int, int]) -> None:
    """An attempt is what was proven offered and answered, be the answer the end of the connection."""
    scrape = fold(observation)

    at = {"backend": A, "tls": TLS13, "origin": "self"}
    assert expected == (
        scrape.value("resumption_attempts_total", **at),
        scrape.value("resumptions_total", **at),
        scrape.value("resumption_killed_total", tls=TLS13),
        scrape.value("tickets_not_offered_total", tls=TLS13),
    )


@pytest.mark.parametrize("origin", Origin)
def test_origins(origin: Origin) -> None:
    """An attempt is counted by the origin that the offer names, also by one that no series began with."""
    scrape = fold(offered(A, issuer=B, origin=origin))

    assert 1 == scrape.value("resumptions_total", backend=A, tls=TLS13, origin=origin)
    assert 1 == sum(value for (name, _), value in scrape.series.items() if name == "tlsprobe_resumptions_total")


def test_refusals_by_cause() -> None:
    """A refusal counts under its cause, and as unexplained without one; other ends of an offer are no refusals."""
    crossings = (
        Crossing(A, B, OfferOutcome.REFUSED, cause=Cause.KEY),
        Crossing(B, A, OfferOutcome.REFUSED),
        Crossing(A, A, OfferOutcome.ACCEPTED),
        Crossing(A, A, OfferOutcome.KILLED),
    )
    ledger = Ledger()
    ledger.fold(round_of(target(), (A, B), verdicts={TLS13: VersionVerdict(TargetState.SPLIT, crossings=crossings)}))

    counted = {cause: Scrape(ledger).value("resumption_refusals_total", tls=TLS13, cause=cause) for cause in Cause}

    assert {Cause.KEY: 1, Cause.UNEXPLAINED: 1} == {cause: count for cause, count in counted.items() if count}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param(timing(), (1, 1, 0, 0, True), id="clean"),
        pytest.param(timing(server=None), (1, 0, 0, 0, True), id="no kernel stamp"),
        pytest.param(timing(disturbed=True, server_disturbed=True), (0, 0, 1, 0, False), id="disturbed"),
        pytest.param(timing(disturbed=True), (0, 1, 1, 0, False), id="only the duration is disturbed"),
        pytest.param(timing(server_disturbed=True), (1, 0, 1, 0, True), id="only the server's part is disturbed"),
        pytest.param(timing(duration_bound=True), (0, 1, 0, 1, False), id="the duration is a bound"),
        pytest.param(timing(server_bound=True), (1, 0, 0, 1, True), id="the server's part is a bound"),
        pytest.param(timing(disturbed=True, server_bound=True), (0, 0, 1, 0, False), id="disturbed and a bound"),
    ],
)
def test_times_that_are_left_out(times: Timing, expected: tuple[int, int, int, int, bool]) -> None:
    """Each histogram leaves out what it cannot vouch for; such a handshake is counted once, a hit all the same."""
    scrape = fold(offered(times=times))

    at = {"tls": TLS13, "mode": "resumed"}
    assert expected == (
        scrape.value("handshake_duration_seconds_count", **at),
        scrape.value("handshake_server_seconds_count", **at),
        scrape.value("handshake_samples_left_out_total", tls=TLS13, reason="disturbed"),
        scrape.value("handshake_samples_left_out_total", tls=TLS13, reason="upper_bound"),
        scrape.value("backend_handshake_seconds", backend=A, **at) is not None,
    )
    assert 1 == scrape.value("resumptions_total", backend=A, tls=TLS13, origin="self")


@pytest.mark.parametrize(
    ("seconds", "lowest"),
    [
        pytest.param(0.0, "0.00025", id="nothing"),
        pytest.param(0.00025, "0.00025", id="just a bound"),
        pytest.param(0.000251, "0.0005", id="just over it"),
        pytest.param(10.0, "10.0", id="the last bound"),
        pytest.param(11.0, "+Inf", id="beyond"),
    ],
)
def test_buckets(seconds: float, lowest: str) -> None:
    """A value is counted in the first bucket that is not below it, and in all above."""
    scrape = fold(full(times=timing(seconds)))

    at = {"tls": TLS13, "mode": "full"}
    filled = [
        labels["le"]
        for labels in scrape.labels("handshake_duration_seconds_bucket")
        if labels["mode"] == "full" and scrape.value("handshake_duration_seconds_bucket", le=labels["le"], **at) == 1
    ]
    assert lowest == min(filled, key=float)
    assert seconds == scrape.value("handshake_duration_seconds_sum", **at)


def test_ratio_is_the_median_of_the_last_pairs() -> None:
    """The ratio is absent before the first pair, and pairs beyond the last 101 do not count."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,), verdicts={TLS13: VersionVerdict(TargetState.CONSISTENT)}))
    before = Scrape(ledger).value("resumed_to_full_time_ratio", tls=TLS13)
    for ratios in ((9.0,) * 50, (0.25, 0.5), (0.5, 0.75) * 49, (0.25,)):
        ledger.fold(round_of(target(), (A,), verdicts={TLS13: VersionVerdict(TargetState.CONSISTENT, ratios=ratios)}))

    assert (None, 0.5) == (before, Scrape(ledger).value("resumed_to_full_time_ratio", tls=TLS13))


@pytest.mark.parametrize(
    ("version", "tickets", "expected"),
    [
        pytest.param(TLS13, (Ticket(b"", 300), Ticket(b"", 600, 16384)), (600, 16384, 2), id="the last of two"),
        pytest.param(TLS13, (Ticket(b"", 0),), (0, None, 1), id="at once worthless"),
        pytest.param(TLS12, (Ticket(b"", 0),), (None, None, 1), id="no hint in TLS 1.2"),
        pytest.param(TLS13, (), (None, None, 0), id="none"),
    ],
)
def test_ticket_facts(version: TlsVersion, tickets: tuple[Ticket, ...], expected: tuple[float | None, ...]) -> None:
    """Lifetime and early data are those of the last ticket of a full handshake, absent where it says nothing."""
    ledger = Ledger()
    ledger.fold(round_of(target(versions=(version,)), (A,), [full(version=version, tickets=tickets)]))

    names = ("ticket_lifetime_seconds", "ticket_max_early_data_bytes", "tickets_received_total")
    assert expected == tuple(Scrape(ledger).value(name, backend=A, tls=version) for name in names)


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        pytest.param((LEAF, LEAF), 1, id="the same everywhere"),
        pytest.param((LEAF, b"\x02" * 32), 2, id="one differs"),
    ],
)
def test_certificates(leaves: tuple[bytes, bytes], expected: int) -> None:
    """Distinct leaves are counted over the backends."""
    seen = [full(backend, leaf=certificate(leaf)) for backend, leaf in zip((A, B), leaves, strict=True)]

    assert expected == fold(*seen).value("certificates", tls=TLS13)


def test_what_the_name_no_longer_stands_for_has_no_certificate() -> None:
    """A handshake with a backend that has left counts as one, and for nothing else."""
    scrape = fold(full(A), full(C, leaf=certificate(b"\x02" * 32)))

    assert 1 == scrape.value("certificates", tls=TLS13)
    assert 2 == scrape.value("handshake_duration_seconds_count", tls=TLS13, mode="full")
    assert [] == [labels for _, labels in scrape.series if ("backend", str(C)) in labels]


def test_a_failure_outside_the_closed_list_is_a_bug() -> None:
    """A pair of stage and reason that cannot be makes no series of its own."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,), failures=((A, Failure(Stage.RESOLVE, Reason.WRONG_NAME)),)))

    scrape = Scrape(ledger)

    assert 1 == scrape.value("failures_total", stage="probe", reason="bug")
    assert scrape.value("failures_total", stage="resolve", reason="wrong_name") is None


def test_failures_are_not_observed() -> None:
    """A failed exchange is a request and no duration."""
    scrape = fold(full(http=BAD_STATUS), full())

    assert 2 == scrape.value("http_requests_total", backend=A, connection="new")
    assert 1 == scrape.value("http_request_duration_seconds_count", connection="new")
