"""What the golden expositions show: one scene each, from hand-made results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from exporter.config.settings import WaveSettings
from exporter.metrics.collector import LedgerCollector
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from exporter.metrics.own import Build, OwnCollector, Part, Reload, Sources
from exporter.metrics.sources import SourceCollector
from exporter.metrics.wave import WaveCollector
from exporter.metrics.yardstick import YardstickAccount, YardstickCollector
from exporter.model.connections import (
    End,
    Farewell,
    HeldEnd,
    HelloCheck,
    HelloSplit,
    Idle,
    Mismatch,
    Party,
    RecordSizes,
    RequestPair,
    Staple,
    StapleStatus,
    Trait,
)
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Mode, Origin, Ticket, TimingSource
from exporter.model.source import Standing
from exporter.model.target import Endpoint, Expect, Resumption, StartTls
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Cause,
    Census,
    Crossing,
    ForeignOffer,
    KeyEvent,
    KeyEventKind,
    Mechanism,
    OfferOutcome,
    Survival,
    TargetState,
    VersionVerdict,
    Weakness,
)
from exporter.model.yardstick import KINDS, Operation, Pair, Pass, Sample, Shake, SignaturePrice
from tests.metrics.rounds import (
    ANSWER,
    RECORDED,
    STARTED,
    TLS12,
    TLS13,
    V6,
    A,
    B,
    C,
    certificate,
    full,
    kept,
    lost,
    offered,
    round_of,
    target,
    timing,
)

Shown = LedgerCollector | OwnCollector | SourceCollector | WaveCollector | YardstickCollector

BUILD = Build("0.1.0", "3.11.7", "OpenSSL 3.0.19 27 Jan 2026")


class Unheard:
    """Where faults go in tests: each is kept."""

    def __init__(self) -> None:
        self.faults: list[tuple[str, Exception]] = []

    def __call__(self, part: str, error: Exception) -> None:
        """Keep the fault."""
        self.faults.append((part, error))


def collector(ledger: Ledger) -> LedgerCollector:
    """Return the ledger's collector for a test that expects no fault."""
    return LedgerCollector(ledger, Faults(Unheard()))


def first_sight() -> Sequence[Shown]:
    """A target that was admitted and not probed yet."""
    ledger = Ledger()
    ledger.admit(target())
    return [collector(ledger)]


def shared_key() -> Sequence[Shown]:
    """Two backends that share their ticket key, everything promised, one round."""
    expect = Expect(min_backends=2, rotation=86400, ticket_life=0.9, keepalive_idle=60)
    shop = target(expect=expect, labels=(("team", "payments"),))
    early = (Ticket(b"one", 7200), Ticket(b"two", 7200, max_early_data=16384))
    resumes = BackendVerdict(
        BackendState.RESUMES,
        Mechanism.RFC5077,
        b"a key's own name",
        0,
        key_since=STARTED - 3600,
        keys_seen=1,
        survival=Survival(oldest_accepted=1800.5, hint=7200),
        census=Census(keys=1, offers=12, hits=12, effective=1.0, effective_low=1.0, effective_high=1.32),
    )
    verdict = VersionVerdict(
        TargetState.CONSISTENT, {A: resumes, V6: resumes}, judged=2, groups=1, ratios=(0.5, 0.4, 0.6)
    )
    ledger = Ledger()
    ledger.fold(
        round_of(
            shop,
            (A, V6),
            [
                full(A, tickets=early, hello_retry=True),
                offered(A),
                offered(V6, issuer=A),
                full(V6, times=timing(0.004, server_bound=True), tickets=early),
                offered(V6),
                offered(A, issuer=V6),
            ],
            verdicts={TLS13: verdict},
            supported={(A, TLS13): True, (V6, TLS13): True},
        )
    )
    return [collector(ledger)]


def trouble() -> Sequence[Shown]:
    """One backend refuses, kills and does not offer; one is down; one is beyond the cap; nothing is well."""
    shop = target(versions=(TLS12, TLS13), expect=Expect(Resumption.OFF))
    wrong_name = Failure(Stage.VERIFY, Reason.WRONG_NAME)
    down = Failure(Stage.CONNECT, Reason.CONNECTION_REFUSED, "nobody listens")
    reset = Failure(Stage.HANDSHAKE, Reason.RESET)
    crossing = Crossing(A, A, OfferOutcome.REFUSED, cause=Cause.EXPIRED)
    verdict = VersionVerdict(
        TargetState.BROKEN,
        {A: BackendVerdict(BackendState.REFUSES), B: BackendVerdict(BackendState.FAILED, failure=down)},
        crossings=(crossing,),
    )
    ledger = Ledger(max_backends=2)
    ledger.admit(shop)
    ledger.missed("shop", 3)
    ledger.fold(
        round_of(
            shop,
            (A, B, C),
            [
                full(A, times=timing(disturbed=True, server=None), verify_failure=wrong_name),
                offered(A, resumed=False),
                offered(A, origin=Origin.AGED, resumed=False, shown=False),
                lost(A, reset, offer=True, confirmed=True),
                lost(B, down),
            ],
            verdicts={TLS13: verdict},
            failures=((A, wrong_name), (A, reset), (B, down), (None, Failure(Stage.RESOLVE, Reason.TIMEOUT))),
            supported={(A, TLS12): False, (A, TLS13): True},
        )
    )
    return [collector(ledger)]


def rotation() -> Sequence[Shown]:
    """One backend was replaced by another with a new key, which is weak; the old key's tickets are offered, too."""
    shop = target()
    before = BackendVerdict(
        BackendState.RESUMES, Mechanism.RFC5077, b"the old key name", 0, key_since=STARTED - 60, keys_seen=1
    )
    after = BackendVerdict(
        BackendState.RESUMES,
        Mechanism.RFC5077,
        b"the new key name",
        1,
        key_since=STARTED,
        keys_seen=1,
        weakness=Weakness.GUESSABLE_KEY,
    )
    events = (
        KeyEvent(KeyEventKind.CHANGE, C, new_key=b"the new key name"),
        KeyEvent(KeyEventKind.BREAK, B, old_key=b"the old key name"),
    )
    ledger = Ledger()
    ledger.fold(round_of(shop, (A, B), [full(A), full(B)]))
    ledger.fold(
        round_of(
            shop,
            (A, C),
            [
                full(A),
                offered(A, origin=Origin.AGED),
                offered(A, issuer=B, origin=Origin.DEPARTED, resumed=False),
                full(C),
                offered(C, issuer=B, origin=Origin.DEPARTED, resumed=False),
            ],
            verdicts={TLS13: VersionVerdict(TargetState.ROTATING, {A: before, C: after}, groups=2, events=events)},
        )
    )
    return [collector(ledger)]


def mixed() -> Sequence[Shown]:
    """Several keys answer at one address: those with names are counted, of the others hits tell how many there are."""
    shop = target(versions=(TLS12, TLS13))
    named = BackendVerdict(
        BackendState.MIXED,
        Mechanism.RFC5077,
        keys_seen=2,
        survival=Survival(oldest_accepted=75.0, youngest_refused=61.5, hint=300),
        census=Census(keys=2, offers=8, hits=4, effective=2.0, effective_low=1.27, effective_high=4.65),
    )
    hidden = BackendVerdict(BackendState.MIXED, Mechanism.HIDDEN, census=Census(keys=0, offers=2, hits=0))
    ledger = Ledger()
    ledger.fold(
        round_of(
            shop,
            (A,),
            [full(A)],
            verdicts={
                TLS12: VersionVerdict(TargetState.MIXED, {A: hidden}),
                TLS13: VersionVerdict(TargetState.MIXED, {A: named}, groups=2),
            },
        )
    )
    return [collector(ledger)]


def kept_alive() -> Sequence[Shown]:
    """One backend keeps connections and one closes them; one that leaves drops its held one."""
    shop = target(large_path="/large")
    reset = Failure(Stage.HTTP, Reason.RESET)
    broken = kept(ANSWER, end=End.RESET, failure=reset)
    large = replace(RECORDED, records=RecordSizes(1370, 16384, 70))
    ledger = Ledger()
    ledger.fold(
        round_of(
            shop,
            (A, B, C),
            [
                full(A, http=RECORDED, reuse=kept(RECORDED, RECORDED, large=large)),
                offered(A, http=replace(ANSWER, status=403)),
                full(B, reuse=kept(end=End.CONNECTION_CLOSE)),
                full(C, reuse=broken),
            ],
            verdicts={TLS13: VersionVerdict(TargetState.CONSISTENT, mismatches=(Mismatch(A, full=200, resumed=403),))},
            failures=((C, reset),),
            request_pairs=(RequestPair(new=0.008, reused=0.002),),
            idles={A: Idle(lived=64.0, died=66.0), C: Idle()},
        )
    )
    held_ends = (HeldEnd(C, End.RESET, Farewell.DROPPED), HeldEnd(A, End.IDLE_TIMEOUT))
    ledger.fold(round_of(shop, (A, B), idles={A: Idle(lived=64.0, died=65.0)}, held_ends=held_ends))
    return [collector(ledger)]


def half_rolled_out() -> Sequence[Shown]:
    """One of three backends has a new certificate, speaks no TLS 1.2, and does not take a hello in two records."""
    shop = target(versions=(TLS12, TLS13), starttls=StartTls.SMTP, proxy=Endpoint("proxy.example.com", 3128))
    stapled = Staple(StapleStatus.GOOD, STARTED - 90, STARTED - 60, STARTED + 3600)
    parties = {Trait.CERTIFICATE: (Party("01", (A, B)), Party("02", (C,))), Trait.ALPN: (Party("h2", (A, B, C)),)}
    spoken = {Trait.VERSIONS: (Party("TLS 1.2", (A, B)), Party("no TLS 1.2", (C,)))}
    ledger = Ledger()
    ledger.fold(
        round_of(
            shop,
            (A, B, C),
            [
                full(A, TLS12, http=None),
                full(A, http=None),
                full(B, TLS12, http=None),
                full(B, http=None),
                full(C, http=None, leaf=certificate(b"\x02" * 32)),
            ],
            verdicts={
                TLS12: VersionVerdict(TargetState.CONSISTENT, parties=spoken),
                TLS13: VersionVerdict(TargetState.CONSISTENT, parties=parties),
            },
            supported={(C, TLS12): False, (C, TLS13): True},
            staples={A: stapled, B: Staple(StapleStatus.NONE), C: Staple(StapleStatus.UNREADABLE)},
            hello_checks=(
                HelloCheck(A, HelloSplit.SEGMENTS),
                HelloCheck(A, HelloSplit.RECORDS),
                HelloCheck(C, HelloSplit.RECORDS, Failure(Stage.HANDSHAKE, Reason.RESET)),
                HelloCheck(B, HelloSplit.RECORDS, Failure(Stage.CONNECT, Reason.TIMEOUT)),
            ),
        )
    )
    return [collector(ledger)]


def foreign() -> Sequence[Shown]:
    """Sessions of two other targets are offered, and those of one of them are accepted."""
    shop = target(versions=(TLS12, TLS13), share_with=("blog", "bank"))
    outcomes = {
        "blog": (OfferOutcome.ACCEPTED, OfferOutcome.REFUSED, OfferOutcome.NOT_OFFERED, OfferOutcome.ERROR),
        "bank": (OfferOutcome.REFUSED,),
        "gone": (OfferOutcome.ACCEPTED,),
    }
    offers = tuple(ForeignOffer(name, A, TLS13, outcome) for name, those in outcomes.items() for outcome in those)
    ledger = Ledger()
    ledger.fold(round_of(shop, (A,), foreign=offers))
    return [collector(ledger)]


def own() -> Sequence[Shown]:
    """The exporter about itself, after handshakes that it prolonged by itself."""
    ledger = Ledger()
    ledger.fold(round_of(target(), (A,), [full(times=timing(starvation=seconds)) for seconds in (0.0, 0.0625, 12.0)]))
    sources = Sources(
        starvation=ledger.starvation,
        timing_source=lambda: TimingSource.KERNEL,
        reload=lambda: Reload(successful=False, succeeded_at=STARTED),
        reference_ok=lambda: True,
        part=lambda: Part(total=10, own=3, index=2, count=4),
    )
    return [OwnCollector(BUILD, sources, Faults(Unheard()))]


def wave() -> Sequence[Shown]:
    """A wave of clients that was configured."""
    return [WaveCollector(WaveSettings(clients=100_000, servers=5, ceiling=5000, window=10, resumed_ceiling=8000))]


def sources() -> Sequence[Shown]:
    """A source that is well, one that has lost its way, and one that never found it."""
    standings = {
        "inventory": Standing(targets=20, successful=True, succeeded_at=STARTED),
        "files, north": Standing(targets=3, successful=False, succeeded_at=STARTED - 60, failures=12),
        "new": Standing(failures=1),
    }
    return [SourceCollector(lambda: standings)]


def yardstick() -> Sequence[Shown]:
    """Two samples of the reference servers, after one that came to nothing; one handshake was not as it was meant."""
    shakes = tuple(
        Shake(mode, resumed=mode is Mode.RESUMED, seconds=seconds, cpu=seconds / 2)
        for mode, seconds in ((Mode.FULL, 0.001), (Mode.RESUMED, 0.00075), (Mode.REFUSED, 0.0011))
    )
    wrong = (shakes[0], replace(shakes[1], resumed=False))
    passes = (*(Pass(kind, shakes) for kind in KINDS), Pass(KINDS[0], wrong))
    sample = Sample(passes, (Pair(8.0, 6.0),), (Pair(2.0, 30.0),), (Pair(0.25, 0.5),), 0.125)
    prices = tuple(
        SignaturePrice(key_type, operation, 0.0001)
        for key_type in ("ecdsa-p256", "rsa-2048")
        for operation in Operation
    )
    account = YardstickAccount()
    account.fail()
    account.count_restart()
    for _ in range(2):
        account.fold(sample, prices, STARTED)
    return [YardstickCollector(account)]


SCENES: Mapping[str, Callable[[], Sequence[Shown]]] = {
    "first_sight": first_sight,
    "shared_key": shared_key,
    "trouble": trouble,
    "rotation": rotation,
    "mixed": mixed,
    "kept_alive": kept_alive,
    "half_rolled_out": half_rolled_out,
    "foreign": foreign,
    "own": own,
    "wave": wave,
    "sources": sources,
    "yardstick": yardstick,
}
