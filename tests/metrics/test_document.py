"""The page about the metrics, and the arithmetic of their number."""

from pathlib import Path

import pytest

from exporter.metrics.document import formula, page
from exporter.metrics.families import FAMILIES, TABLE
from exporter.metrics.ledger import Ledger
from exporter.model.connections import HelloCheck, HelloSplit, Idle, Party, RequestPair, Staple, StapleStatus, Trait
from exporter.model.failure import STAGE_REASONS, Stage
from exporter.model.observation import Ticket
from exporter.model.target import MAX_SHARED, Address, Endpoint, Expect
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Census,
    Mechanism,
    Survival,
    TargetState,
    VersionVerdict,
)
from tests.metrics.parsed import Scrape
from tests.metrics.rounds import RECORDED, TLS12, TLS13, V6, A, B, C, full, kept, offered, round_of, target

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_the_page_is_current() -> None:
    """The page is what the table makes of it; `python -m exporter.metrics.document > docs/metrics.md` writes it."""
    assert page() == PAGE.read_text()


def test_names_are_unique() -> None:
    """No family is in the table twice."""
    assert len(TABLE) == len(FAMILIES)


@pytest.mark.parametrize(
    ("name", "expected", "written"),
    [
        pytest.param("rounds_total", 1, "1", id="one for a target"),
        pytest.param("rtt_seconds", 3, "B", id="one for a backend"),
        pytest.param("certificates", 2, "V", id="one for a version"),
        pytest.param("resumptions_total", 24, "4·B·V", id="several for both"),
        pytest.param("http_request_duration_seconds", 38, "38", id="a histogram, twice"),
        pytest.param("handshake_duration_seconds", 114, "57·V", id="a histogram for a version"),
        pytest.param("build_info", 0, "0", id="about the exporter"),
    ],
)
def test_series_of_a_family(name: str, expected: int, written: str) -> None:
    """A target of 3 backends and 2 versions adds what the formula says."""
    assert (expected, written) == (FAMILIES[name].series(3, 2), formula(FAMILIES[name]))


def test_the_bound_holds_and_is_reached() -> None:
    """A target of which everything is known has as many series as the page says, but for what excludes each other."""
    versions, backends = (TLS12, TLS13), (A, B, C)
    known = BackendVerdict(
        BackendState.RESUMES,
        Mechanism.RFC5077,
        b"name",
        0,
        key_since=1.0,
        keys_seen=1,
        survival=Survival(75.0, 150.0, 300),
        census=Census(keys=1, offers=1, hits=1),
    )
    parties = dict.fromkeys(Trait, (Party("alike", backends),))
    verdict = VersionVerdict(
        TargetState.CONSISTENT, dict.fromkeys(backends, known), groups=1, ratios=(0.5,), parties=parties
    )
    expect = Expect(min_backends=3, rotation=1, ticket_life=1, keepalive_idle=1)
    others = tuple(f"site {number}" for number in range(MAX_SHARED))
    shop = target(versions=versions, expect=expect, share_with=others, proxy=Endpoint("proxy.example.com", 3128))
    ledger = Ledger()
    ledger.fold(round_of(shop, (V6,), [full(V6, tls) for tls in versions]))
    ledger.fold(
        round_of(
            shop,
            backends,
            [
                observation
                for backend in backends
                for tls in versions
                for observation in (
                    full(backend, tls, tickets=(Ticket(b"", 300, 16384),), http=RECORDED, reuse=kept(RECORDED)),
                    offered(backend, tls),
                    offered(backend, tls, issuer=_next(backend), resumed=False),
                )
            ],
            verdicts=dict.fromkeys(versions, verdict),
            supported={(backend, tls): True for backend in backends for tls in versions},
            request_pairs=(RequestPair(0.2, 0.1),),
            staples=dict.fromkeys(backends, Staple(StapleStatus.GOOD, 1.0, 1.0, 2.0)),
            hello_checks=tuple(HelloCheck(backend, split) for backend in backends for split in HelloSplit),
            idles=dict.fromkeys(backends, Idle(60.0, 65.0)),
        )
    )

    only_in_tls13 = FAMILIES["hello_retries_total"].factor
    only_in_tls12 = len(backends) * FAMILIES["extended_master_secret"].factor
    instead_of_http = len(STAGE_REASONS[Stage.STARTTLS])
    missing = only_in_tls13 + only_in_tls12 + instead_of_http
    assert sum(family.series(3, 2) for family in TABLE) - missing == len(Scrape(ledger).series)


def _next(backend: Address) -> Address:
    return {A: B, B: C, C: A}[backend]
