"""What is shown of what handshakes carry, and of what differs in that between backends."""

from dataclasses import replace

import pytest

from exporter.metrics.ledger import Ledger
from exporter.model.connections import HelloCheck, HelloSplit, Party, Staple, StapleStatus, Trait
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake
from exporter.model.target import Endpoint, StartTls, Target, TlsVersion
from exporter.model.verdicts import TargetState, VersionVerdict
from tests.metrics.parsed import Scrape
from tests.metrics.rounds import TLS12, TLS13, A, B, full, offered, round_of, target

RESET = Failure(Stage.HANDSHAKE, Reason.RESET)


def test_costs_by_mode() -> None:
    """Bytes and round trips are those of the last handshake of each mode."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,), [full(hello_retry=True), full(), offered()]))

    scrape = Scrape(ledger)

    shown = {
        mode: tuple(
            scrape.value(f"handshake_{name}", backend=A, tls=TLS13, mode=mode)
            for name in ("received_bytes", "sent_bytes", "round_trips")
        )
        for mode in ("full", "resumed", "refused")
    }
    assert {"full": (2800, 600, 1), "resumed": (600, 900, 1), "refused": (None, None, None)} == shown
    assert 517 == scrape.value("client_hello_bytes", tls=TLS13)


def test_what_was_not_seen_is_absent() -> None:
    """Round trips, the hello's size, and what the certificate would say are left out where they were not seen."""
    seen = full()
    assert isinstance(seen.outcome, Handshake)
    blind = replace(seen.outcome.tls, certificate=None, name_matches=None, round_trips=0, hello_bytes=0)
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,), [replace(seen, outcome=replace(seen.outcome, tls=blind))]))

    names = {name for name, _ in Scrape(ledger).series}

    assert names.isdisjoint(
        f"tlsprobe_{name}"
        for name in (
            "handshake_round_trips",
            "client_hello_bytes",
            "certificate_names",
            "certificate_chain_length",
            "certificate_name_matches",
        )
    )
    assert "tlsprobe_handshake_sent_bytes" in names


@pytest.mark.parametrize(("version", "expected"), [(TLS12, 1), (TLS13, None)])
def test_certificate_facts(version: TlsVersion, expected: int | None) -> None:
    """Facts of the last full handshake's certificate are shown; the extended master secret is one of TLS 1.2."""
    ledger = Ledger()
    ledger.fold(round_of(target(versions=(version,)), (A,), [full(version=version), offered(version=version)]))

    scrape = Scrape(ledger)

    names = ("certificate_chain_length", "certificate_names", "certificate_name_matches", "extended_master_secret")
    assert (2, 1, 1, expected) == tuple(scrape.value(name, backend=A, tls=version) for name in names)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        pytest.param(None, 1, id="taken"),
        pytest.param(RESET, 0, id="not taken"),
        pytest.param(Failure(Stage.CONNECT, Reason.TIMEOUT), None, id="never reached"),
        pytest.param(Failure(Stage.PROBE, Reason.STARVED), None, id="our own doing"),
    ],
)
def test_hello_splits(failure: Failure | None, expected: int | None) -> None:
    """A split that was tried stays shown until the next try, and one that did not arrive tells nothing."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,), hello_checks=(HelloCheck(A, HelloSplit.RECORDS, failure),)))
    ledger.fold(round_of(target(), (A,), [full()]))

    assert expected == Scrape(ledger).value("hello_split_accepted", backend=A, split="records")


@pytest.mark.parametrize(
    ("staple", "expected"),
    [
        pytest.param(None, (None, None, None, []), id="not asked"),
        pytest.param(Staple(StapleStatus.NONE), (0, None, None, ["none"]), id="none"),
        pytest.param(Staple(StapleStatus.GOOD, 1.0, 2.0, 3.0), (1, 2, 3, ["good"]), id="good"),
        pytest.param(Staple(StapleStatus.REVOKED, 1.0, 2.0), (1, 2, None, ["revoked"]), id="no next update"),
    ],
)
def test_staples(staple: Staple | None, expected: tuple[float | None, float | None, float | None, list[str]]) -> None:
    """A stapled answer is shown with its times, and exactly one status holds."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A, B), staples={} if staple is None else {A: staple}))

    scrape = Scrape(ledger)

    holding = [status for status in StapleStatus if scrape.value("ocsp_status", backend=A, status=status)]
    names = ("ocsp_stapled", "ocsp_this_update_timestamp_seconds", "ocsp_next_update_timestamp_seconds")
    assert expected == (*(scrape.value(name, backend=A) for name in names), holding)


def test_differences() -> None:
    """A trait is shown with the number of its values, 1 where all agree, and not at all where it is not known."""
    parties = {Trait.ALPN: (Party("h2", (A, B)),), Trait.CIPHER: (Party("one", (A,)), Party("other", (B,)))}
    verdict = VersionVerdict(TargetState.CONSISTENT, parties=parties)
    ledger = Ledger()
    ledger.fold(round_of(target(), (A, B), verdicts={TLS13: verdict}))

    scrape = Scrape(ledger)

    shown = {trait: scrape.value("backend_differences", tls=TLS13, trait=trait) for trait in Trait}
    assert {"alpn": 1, "cipher": 2} == {trait: count for trait, count in shown.items() if count is not None}


def test_series_of_a_backend_that_left_are_gone() -> None:
    """Nothing of it is left, of its staple, splits and connections neither."""
    ledger = Ledger()
    everything = full(B)
    ledger.fold(
        round_of(
            target(),
            (A, B),
            [everything],
            staples={B: Staple(StapleStatus.NONE)},
            hello_checks=(HelloCheck(B, HelloSplit.RECORDS),),
        )
    )
    ledger.fold(round_of(target(), (A,), staples={B: Staple(StapleStatus.NONE)}))

    assert [] == [name for name, labels in Scrape(ledger).series if ("backend", str(B)) in labels]


@pytest.mark.parametrize(
    ("shop", "expected"),
    [
        pytest.param(target(), set(), id="plain"),
        pytest.param(target(proxy=Endpoint("proxy.example.com", 3128)), {"proxy"}, id="through a proxy"),
        pytest.param(target(starttls=StartTls.SMTP), {"starttls"}, id="STARTTLS"),
    ],
)
def test_failures_that_cannot_be(shop: Target, expected: set[str]) -> None:
    """Failures of a stage that a target does not have are not shown, unless there were some."""
    ledger = Ledger()
    ledger.admit(shop)
    before = {labels["stage"] for labels in Scrape(ledger).labels("failures_total")}
    ledger.failed("shop", Failure(Stage.PROXY, Reason.REJECTED))

    after = {labels["stage"] for labels in Scrape(ledger).labels("failures_total")}

    assert expected == before & {"proxy", "starttls"}
    assert expected | {"proxy"} == after & {"proxy", "starttls"}
