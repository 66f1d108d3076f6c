"""What is counted of HTTP requests and connections."""

from dataclasses import replace

import pytest

from exporter.metrics.ledger import Ledger
from exporter.model.connections import End, Farewell, HeldEnd, HttpAnswer, Idle, Mismatch, RecordSizes, RequestPair
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Observation
from exporter.model.target import IdleScope, StartTls, Target
from exporter.model.verdicts import TargetState, VersionVerdict
from tests.metrics.parsed import Scrape
from tests.metrics.rounds import ANSWER, RECORDED, TLS12, TLS13, A, B, C, full, kept, lost, offered, round_of, target

CLOSED = Failure(Stage.HTTP, Reason.CLOSED)
STARVED = Failure(Stage.PROBE, Reason.STARVED)
DISTURBED = replace(ANSWER, disturbed=True)
UNEXPECTED = replace(ANSWER, status=500, unexpected=Failure(Stage.HTTP, Reason.UNEXPECTED_STATUS))


def fold(*observations: Observation, shop: Target | None = None) -> Scrape:
    """Scrape after a single round."""
    ledger = Ledger()
    ledger.fold(round_of(shop or target(), (A, B), observations))
    return Scrape(ledger)


@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        pytest.param(full(), (1, 0, 0, 0), id="one request"),
        pytest.param(offered(http=ANSWER), (1, 0, 0, 0), id="one on a resumed connection"),
        pytest.param(full(http=None), (0, 0, 0, 0), id="none"),
        pytest.param(lost(A, Failure(Stage.HANDSHAKE, Reason.RESET)), (0, 0, 0, 0), id="no handshake"),
        pytest.param(full(http=CLOSED), (1, 0, 0, 0), id="the first one broke"),
        pytest.param(full(reuse=kept(ANSWER, ANSWER)), (1, 2, 2, 2), id="kept alive"),
        pytest.param(full(reuse=kept(end=End.CONNECTION_CLOSE)), (1, 0, 1, 0), id="closed at once"),
        pytest.param(full(reuse=kept(ANSWER, end=End.MAX_REQUESTS)), (1, 1, 2, 1), id="a limit"),
        pytest.param(full(reuse=kept(ANSWER, end=End.IN_FLIGHT, failure=CLOSED)), (1, 2, 2, 1), id="broken"),
        pytest.param(full(reuse=kept(ANSWER, end=End.ERROR, failure=STARVED)), (1, 2, 1, 1), id="broken by us"),
        pytest.param(full(reuse=kept(ANSWER, large=RECORDED)), (1, 2, 1, 1), id="with a larger body"),
    ],
)
def test_requests(observation: Observation, expected: tuple[int, int, int, int]) -> None:
    """Requests count whether answered or not, and a further one that we broke ourselves was no attempt."""
    scrape = fold(observation)

    assert expected == (
        scrape.value("http_requests_total", backend=A, connection="new"),
        scrape.value("http_requests_total", backend=A, connection="reused"),
        scrape.value("http_reuse_attempts_total", backend=A),
        scrape.value("http_reuses_total", backend=A),
    )
    assert 0 == scrape.value("http_requests_total", backend=B, connection="reused")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(ANSWER, 1, id="a good one"),
        pytest.param(DISTURBED, 0, id="disturbed by the network"),
        pytest.param(UNEXPECTED, 0, id="of a status that was not expected"),
    ],
)
def test_durations(answer: HttpAnswer, expected: int) -> None:
    """Times are observed apart for new and for reused connections, and only those that can be vouched for."""
    scrape = fold(full(http=answer, reuse=kept(answer, answer)))

    assert (expected, 2 * expected) == tuple(
        scrape.value("http_request_duration_seconds_count", connection=connection) for connection in ("new", "reused")
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(ANSWER, 1, id="as expected"),
        pytest.param(UNEXPECTED, 0, id="another status"),
        pytest.param(CLOSED, 0, id="no answer"),
    ],
)
def test_an_unexpected_status_is_no_success(answer: HttpAnswer | Failure, expected: int) -> None:
    """A backend that answers with a status that was not expected has not succeeded, though it answered."""
    assert expected == fold(full(http=answer)).value("success", backend=A)


def test_ends() -> None:
    """Connections are counted by their end, those that were held idle too, and outlive their backend."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A, B), [full(A, reuse=kept(end=End.HTTP_1_0)), full(B, reuse=kept(ANSWER))]))
    held = (HeldEnd(B, End.RESET, Farewell.DROPPED), HeldEnd(A, End.IDLE_TIMEOUT), HeldEnd(A, End.IDLE_TIMEOUT))
    ledger.fold(round_of(target(), (A,), held_ends=held))

    scrape = Scrape(ledger)

    counted = {end: scrape.value("http_connection_ends_total", reason=end) for end in End}
    assert {"http_1_0": 1, "own_limit": 1, "reset": 1, "idle_timeout": 2} == {
        end: count for end, count in counted.items() if count
    }
    assert (0, 1, 0) == tuple(scrape.value("backend_farewells_total", farewell=farewell) for farewell in Farewell)


def test_mismatches() -> None:
    """Answers of this round that surely differ on resumed connections are added up, by version."""
    found = (Mismatch(A, 200, 403), Mismatch(B, 200, 400, answers=2))
    ledger = Ledger()
    for _ in range(2):
        verdict = VersionVerdict(TargetState.CONSISTENT, mismatches=found)
        ledger.fold(round_of(target(versions=(TLS12, TLS13)), (A, B), verdicts={TLS13: verdict}))

    assert (0, 6) == tuple(Scrape(ledger).value("http_resumed_mismatches_total", tls=tls) for tls in (TLS12, TLS13))


def test_ratio_is_the_median() -> None:
    """The ratio is absent before the first pair, and of a pair without a time for the kept one there is none."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,)))
    before = Scrape(ledger).value("new_to_reused_request_time_ratio")
    pairs = (RequestPair(0.008, 0.002), RequestPair(0.01, 0.001), RequestPair(0.006, 0.002), RequestPair(1.0, 0.0))
    ledger.fold(round_of(target(), (A,), request_pairs=pairs))

    assert (None, 4) == (before, Scrape(ledger).value("new_to_reused_request_time_ratio"))


def test_announced_timeout_is_of_the_last_round() -> None:
    """What a backend announces is shown while it does so."""
    ledger = Ledger()
    shown = []
    for answer in (RECORDED, ANSWER):
        ledger.fold(round_of(target(), (A,), [full(http=answer)]))
        shown.append(Scrape(ledger).value("http_keepalive_announced_timeout_seconds", backend=A))

    assert [65, None] == shown


@pytest.mark.parametrize(
    ("large_path", "large", "expected"),
    [
        pytest.param(None, None, (1370, 4096), id="of the ordinary answers"),
        pytest.param("/large", None, (1370, None), id="the larger body was not asked for yet"),
        pytest.param("/large", RecordSizes(1370, 16384, 70), (1370, 16384), id="of the larger body"),
    ],
)
def test_records(large_path: str | None, large: RecordSizes | None, expected: tuple[int | None, int | None]) -> None:
    """The first record is that of a new connection, the largest that of the larger body where there is one."""
    answer = None if large is None else replace(ANSWER, records=large)
    ledger = Ledger()
    shop = target(large_path=large_path)
    ledger.fold(round_of(shop, (A,), [full(http=RECORDED, reuse=kept(RECORDED, large=answer))]))
    ledger.fold(round_of(shop, (A,), [full(http=RECORDED, reuse=kept(RECORDED))]))

    names = ("http_record_first_bytes", "http_record_largest_bytes")
    assert expected == tuple(Scrape(ledger).value(name, backend=A) for name in names)


def test_what_is_known_of_idle_connections() -> None:
    """How long idle connections live is what the last round knew; nothing is shown of what is not known yet."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A, B, C), idles={A: Idle(32.0, 66.0), B: Idle(16.0), C: Idle()}))

    scrape = Scrape(ledger)

    shown = {
        backend: tuple(scrape.value(f"keepalive_idle_{end}_seconds", backend=backend) for end in ("lived", "died"))
        for backend in (A, B, C)
    }
    assert {A: (32, 66), B: (16, None), C: (None, None)} == shown


@pytest.mark.parametrize(
    ("shop", "requests", "reuses", "idle"),
    [
        pytest.param(target(), {"new", "reused"}, True, True, id="all of it"),
        pytest.param(target(requests=1), {"new"}, False, True, id="one request a connection"),
        pytest.param(target(idle=IdleScope.OFF), {"new", "reused"}, True, False, id="nothing held"),
        pytest.param(target(requests=1, idle=IdleScope.OFF), {"new"}, False, False, id="neither"),
        pytest.param(target(http=False), set(), False, False, id="no HTTP"),
        pytest.param(target(starttls=StartTls.IMAP), set(), False, False, id="STARTTLS"),
    ],
)
def test_absent_where_not_asked(shop: Target, requests: set[str], reuses: bool, idle: bool) -> None:
    """No counter is shown that cannot move by the settings; the others are there at 0."""
    ledger = Ledger()
    ledger.fold(round_of(shop, (A,), idles={A: Idle(8.0)}))

    scrape = Scrape(ledger)

    assert requests == {labels["connection"] for labels in scrape.labels("http_requests_total")}
    assert requests == {labels["connection"] for labels in scrape.labels("http_request_duration_seconds_count")}
    assert [0 if reuses else None] * 2 == [
        scrape.value(f"http_reuse{name}_total", backend=A) for name in ("_attempts", "s")
    ]
    assert len(End) * (reuses or idle) == len(scrape.labels("http_connection_ends_total"))
    assert len(Farewell) * idle == len(scrape.labels("backend_farewells_total"))
    assert (8 if idle else None) == scrape.value("keepalive_idle_lived_seconds", backend=A)
    assert (0 if reuses else None) == scrape.value("http_resumed_mismatches_total", tls=TLS13)
