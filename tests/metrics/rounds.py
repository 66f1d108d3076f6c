"""Hand-made results of rounds, as short as their tests want them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from exporter.model.connections import (
    Announced,
    End,
    HeldEnd,
    HelloCheck,
    HttpAnswer,
    Idle,
    RecordSizes,
    RequestPair,
    Reuse,
    Staple,
)
from exporter.model.failure import Failure
from exporter.model.observation import (
    Certificate,
    Handshake,
    Observation,
    Offer,
    Origin,
    Ticket,
    Timing,
    TimingSource,
    TlsFacts,
)
from exporter.model.target import (
    Address,
    Endpoint,
    Expect,
    HttpSettings,
    IdleScope,
    ProbeSettings,
    StartTls,
    Target,
    TlsVersion,
)
from exporter.model.verdicts import ForeignOffer, RoundResult, VersionVerdict

A, B, C = (Address(f"192.0.2.{number}", 443) for number in (1, 2, 3))
V6 = Address("2001:db8::1", 8443)
TLS12, TLS13 = TlsVersion.TLS12, TlsVersion.TLS13
STARTED = 1_800_000_000.0
LEAF = b"\x01" * 32
TICKET = Ticket(identity=b"secret of a ticket", lifetime=300)


def target(
    name: str = "shop",
    *,
    versions: tuple[TlsVersion, ...] = (TLS13,),
    expect: Expect | None = None,
    labels: tuple[tuple[str, str], ...] = (),
    http: bool = True,
    survival: bool = True,
    share_with: tuple[str, ...] = (),
    requests: int = 5,
    idle: IdleScope = IdleScope.TARGET,
    large_path: str | None = None,
    proxy: Endpoint | None = None,
    starttls: StartTls | None = None,
) -> Target:
    """Make a target."""
    return Target(
        name,
        Endpoint("shop.example.com", 443),
        "shop.example.com",
        versions=versions,
        expect=expect or Expect(),
        labels=labels,
        http=HttpSettings(enabled=http, large_path=large_path),
        probe=ProbeSettings(survival=survival, requests=requests, idle=idle),
        share_with=share_with,
        proxy=proxy,
        starttls=starttls,
    )


def certificate(fingerprint: bytes = LEAF) -> Certificate:
    """Make the facts of a leaf."""
    return Certificate(
        fingerprint=fingerprint,
        subject="CN=shop.example.com",
        issuer="CN=an issuer",
        key_type="ecdsa-p256",
        signature_algorithm="ecdsa-with-SHA256",
        not_before=STARTED,
        not_after=STARTED + 86400,
        names=("shop.example.com",),
        chain_bytes=1830,
        chain_count=2,
        name_count=1,
    )


def timing(
    duration: float = 0.003,
    *,
    server: float | None = 0.001,
    starvation: float = 0.0,
    disturbed: bool = False,
    server_disturbed: bool = False,
    duration_bound: bool = False,
    server_bound: bool = False,
) -> Timing:
    """Make the timing of a handshake, by default one that counts."""
    return Timing(
        source=TimingSource.KERNEL,
        duration=duration,
        wall=duration + starvation,
        server=server,
        rtt=0.0005,
        disturbed=disturbed,
        server_disturbed=server_disturbed,
        duration_bound=duration_bound,
        server_bound=server_bound,
    )


ANSWER = HttpAnswer(status=200, version="1.1", body_bytes=12, duration=0.002, keep_alive=True)
RECORDED = replace(ANSWER, announced=Announced(timeout=65), records=RecordSizes(first=1370, largest=4096, count=3))


def kept(
    *answers: HttpAnswer,
    end: End = End.OWN_LIMIT,
    failure: Failure | None = None,
    large: HttpAnswer | Failure | None = None,
) -> Reuse:
    """Make what came of further requests on a connection, the last of them without an answer where it ended early."""
    attempts = len(answers) + (end is not End.OWN_LIMIT)
    return Reuse(attempts, answers, end, failure, large=large)


def full(
    backend: Address = A,
    version: TlsVersion = TLS13,
    *,
    times: Timing | None = None,
    tickets: tuple[Ticket, ...] = (TICKET, TICKET),
    leaf: Certificate | None = None,
    verify_failure: Failure | None = None,
    http: HttpAnswer | Failure | None = ANSWER,
    hello_retry: bool = False,
    session_id: bool = False,
    reuse: Reuse | None = None,
) -> Observation:
    """Make the observation of a full handshake with its request."""
    facts = TlsFacts(
        version=version,
        cipher="TLS_AES_256_GCM_SHA384",
        group="x25519",
        alpn="http/1.1",
        tickets=tickets,
        hello_bytes=517,
        sent_bytes=600,
        received_bytes=2800,
        round_trips=1 + (version is TLS12) + hello_retry,
        certificate=leaf or certificate(),
        name_matches=True,
        extended_master_secret=True if version is TLS12 else None,
        hello_retry=hello_retry,
        session_id=session_id,
    )
    return Observation(backend, version, None, Handshake(facts, times or timing(), verify_failure, http, reuse))


def offered(
    backend: Address = A,
    version: TlsVersion = TLS13,
    *,
    issuer: Address | None = None,
    origin: Origin | None = None,
    resumed: bool = True,
    shown: bool = True,
    times: Timing | None = None,
    http: HttpAnswer | Failure | None = None,
) -> Observation:
    """Make the observation of a session that was offered, by default one of the backend's own that was resumed."""
    facts = TlsFacts(
        version=version,
        cipher="TLS_AES_256_GCM_SHA384",
        resumed=resumed,
        offered=shown,
        offer_kind="ticket" if shown else "",
        sent_bytes=900,
        received_bytes=600 if resumed else 2800,
        round_trips=1,
    )
    outcome = Handshake(facts, times or timing(0.0015, server=0.0004), None, http)
    return Observation(backend, version, _offer(backend, issuer, origin), outcome)


def lost(
    backend: Address,
    failure: Failure,
    version: TlsVersion = TLS13,
    *,
    offer: bool = False,
    confirmed: bool = False,
) -> Observation:
    """Make the observation of a dial that failed, with an offer or without one."""
    return Observation(backend, version, _offer(backend) if offer else None, failure, confirmed=confirmed)


def _offer(backend: Address, issuer: Address | None = None, origin: Origin | None = None) -> Offer:
    issuer = issuer or backend
    return Offer(issuer, origin or (Origin.SELF if issuer == backend else Origin.PEER), 1.0, TICKET)


def round_of(
    probed: Target,
    backends: tuple[Address, ...],
    observations: Iterable[Observation] = (),
    *,
    verdicts: Mapping[TlsVersion, VersionVerdict] | None = None,
    failures: tuple[tuple[Address | None, Failure], ...] = (),
    supported: Mapping[tuple[Address, TlsVersion], bool] | None = None,
    unreached: tuple[Address, ...] = (),
    foreign: tuple[ForeignOffer, ...] = (),
    request_pairs: tuple[RequestPair, ...] = (),
    staples: Mapping[Address, Staple] | None = None,
    hello_checks: tuple[HelloCheck, ...] = (),
    idles: Mapping[Address, Idle] | None = None,
    held_ends: tuple[HeldEnd, ...] = (),
) -> RoundResult:
    """Make the result of a round."""
    return RoundResult(
        target=probed,
        number=0,
        started=STARTED,
        elapsed=0.25,
        backends=backends,
        observations=tuple(observations),
        verdicts=verdicts or {},
        failures=failures,
        supported=supported or {},
        unreached=unreached,
        foreign=foreign,
        request_pairs=request_pairs,
        staples=staples or {},
        hello_checks=hello_checks,
        idles=idles or {},
        held_ends=held_ends,
    )
