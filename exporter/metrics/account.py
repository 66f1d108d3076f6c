"""What is counted and remembered of one target, as plain numbers."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from exporter.metrics.family import SECONDS_BUCKETS
from exporter.metrics.histogram import Histogram
from exporter.metrics.labels import LeftOut
from exporter.metrics.traffic import BackendTraffic, TargetTraffic, keep_ratios, middle
from exporter.model.connections import HelloCheck, HelloSplit, Idle, Staple
from exporter.model.failure import STAGE_REASONS, Failure, Reason, Stage
from exporter.model.observation import Certificate, Handshake, Mode, Origin
from exporter.model.target import Address, Target, TlsVersion
from exporter.model.verdicts import Cause, KeyEventKind, VersionVerdict


def _histograms() -> dict[Mode, Histogram]:
    return {mode: Histogram(SECONDS_BUCKETS) for mode in Mode}


@dataclass(frozen=True, slots=True)
class FullFacts:
    """What a full handshake showed; a resumed one shows no certificate, and its ticket may inherit a shorter life.

    Attributes:
        lifetime: the last ticket's hint in seconds, None without a ticket or hint.
        max_early_data: bytes, None where the last ticket offers none.
        name_matches, extended_master_secret: None where it is not known.
    """

    cipher: str
    group: str
    alpn: str
    lifetime: int | None
    max_early_data: int | None
    certificate: Certificate | None
    name_matches: bool | None
    extended_master_secret: bool | None


class HandshakeCost(NamedTuple):
    """What one handshake took: bytes on the wire, and round trips; 0 where that is not known."""

    received: int
    sent: int
    round_trips: int


def full_facts(version: TlsVersion, handshake: Handshake) -> FullFacts:
    """Take the facts of a full handshake, without the tickets, which are secrets."""
    tls = handshake.tls
    lifetime, max_early_data = None, None
    if tls.tickets:
        last = tls.tickets[-1]
        max_early_data = last.max_early_data
        # A lifetime of 0 is none given in TLS 1.2 (RFC 5077 section 3.3), and one in 1.3 (RFC 8446 section 4.6.1).
        lifetime = last.lifetime if last.lifetime or version is not TlsVersion.TLS12 else None
    return FullFacts(
        tls.cipher,
        tls.group,
        tls.alpn,
        lifetime,
        max_early_data,
        tls.certificate,
        tls.name_matches,
        tls.extended_master_secret,
    )


@dataclass(slots=True)
class SessionAccount:
    """One backend and TLS version: counts since it was first seen, and the facts of the last round that reached it.

    Attributes:
        issued: it gave a session that could be offered.
        seconds: the last undisturbed handshake of each mode.
        costs: of the last handshake of each mode.
    """

    attempts: dict[Origin, int] = field(default_factory=dict)
    resumptions: dict[Origin, int] = field(default_factory=dict)
    tickets: int = 0
    issued: bool = False
    seconds: dict[Mode, float] = field(default_factory=dict)
    costs: dict[Mode, HandshakeCost] = field(default_factory=dict)
    full: FullFacts | None = None

    def expect(self, origin: Origin) -> None:
        """Let the counters of an origin begin at 0."""
        self.attempts.setdefault(origin, 0)
        self.resumptions.setdefault(origin, 0)

    def begin_round(self) -> None:
        """Forget the facts of the round before."""
        self.seconds.clear()
        self.costs.clear()
        self.full = None


@dataclass(slots=True)
class BackendAccount:
    """One backend.

    Attributes:
        success, rtt: of the last round that reached it; None before, and where no round trip was known (seconds).
        splits: whether a ClientHello in two parts was taken when it was last tried.
    """

    sessions: dict[TlsVersion, SessionAccount] = field(default_factory=dict)
    traffic: BackendTraffic = field(default_factory=BackendTraffic)
    splits: dict[HelloSplit, bool] = field(default_factory=dict)
    success: bool | None = None
    rtt: float | None = None

    def begin_round(self) -> None:
        """Forget what the last round showed; what was counted stays."""
        self.success = False
        self.rtt = None
        self.traffic.begin_round()
        for session in self.sessions.values():
            session.begin_round()


@dataclass(slots=True)
class VersionAccount:
    """One TLS version of a target, over all its backends.

    Attributes:
        ratios: resumed over full duration of the last pairs.
        mismatches: answers over resumed connections that were surely other ones.
        hello_bytes: size of our ClientHello in the last full handshake, None before.
        leaves: fingerprint of each backend's leaf certificate, where one was seen in the last round that reached it.
        verdict: of the last round.
    """

    durations: dict[Mode, Histogram] = field(default_factory=_histograms)
    server: dict[Mode, Histogram] = field(default_factory=_histograms)
    left_out: dict[LeftOut, int] = field(default_factory=lambda: dict.fromkeys(LeftOut, 0))
    hello_retries: int = 0
    refusals: dict[Cause, int] = field(default_factory=lambda: dict.fromkeys(Cause, 0))
    key_events: dict[KeyEventKind, int] = field(default_factory=lambda: dict.fromkeys(KeyEventKind, 0))
    killed: int = 0
    not_offered: int = 0
    mismatches: int = 0
    hello_bytes: int | None = None
    ratios: deque[float] = field(default_factory=keep_ratios)
    leaves: dict[Address, bytes] = field(default_factory=dict)
    verdict: VersionVerdict | None = None

    @property
    def median_ratio(self) -> float | None:
        """The middle of the kept ratios, None while there is none."""
        return middle(self.ratios)


@dataclass(slots=True)
class ForeignAccount:
    """Sessions of one other target and version: how many were answered, and how many of those were accepted."""

    attempts: int = 0
    accepted: int = 0


class TargetAccount:
    """One target: its settings, its counts, and an account for each TLS version and backend.

    Attributes:
        present: all backends of the last round, those beyond the cap too.
        backends: those that have series of their own.
        capped: how often a backend was left without.
        left_out: how often an address was not probed, since there are too many.
        ended: Unix time of the last round's end in seconds, None before the first.
        supported: whether a backend speaks a version, as far as the last round's verdict knew.
        idles, staples: what is known of idle connections and of stapled answers.
        foreign: how sessions of other targets fared here, by the other's name and the version.
        outlived: TLS versions in which a backend had issued sessions that are left behind, now that it is gone.
    """

    def __init__(self, target: Target, max_backends: int) -> None:
        self.target = target
        self.rounds = 0
        self.overruns = 0
        self.capped = 0
        self.left_out = 0
        self.ended: float | None = None
        self.failures = {(stage, reason): 0 for stage, reasons in STAGE_REASONS.items() for reason in reasons}
        self.traffic = TargetTraffic()
        self.present: frozenset[Address] = frozenset()
        self.backends: dict[Address, BackendAccount] = {}
        self.versions: dict[TlsVersion, VersionAccount] = {}
        self.supported: dict[tuple[Address, TlsVersion], bool] = {}
        self.idles: dict[Address, Idle] = {}
        self.staples: dict[Address, Staple] = {}
        self.foreign: dict[tuple[str, TlsVersion], ForeignAccount] = {}
        self.outlived: set[TlsVersion] = set()
        self._max_backends = max_backends
        self.adopt(target)

    def adopt(self, target: Target) -> None:
        """Take the target's settings as they are now; a TLS version that is no longer probed is forgotten."""
        self.target = target
        self.versions = {version: self.versions.get(version) or VersionAccount() for version in target.versions}
        pairs = [(name, version) for name in target.share_with for version in target.versions]
        self.foreign = {pair: self.foreign.get(pair) or ForeignAccount() for pair in pairs}
        for backend in self.backends.values():
            backend.sessions = {version: kept for version, kept in backend.sessions.items() if version in self.versions}

    def count_failure(self, failure: Failure) -> None:
        """Count a failure; a pair that the closed list does not know is a bug of ours, whatever it says."""
        pair = (failure.stage, failure.reason)
        self.failures[pair if pair in self.failures else (Stage.PROBE, Reason.BUG)] += 1

    def note_split(self, check: HelloCheck) -> None:
        """Note whether a ClientHello in two parts was taken; one that never reached the backend tells nothing."""
        lost = check.failure is not None and check.failure.stage is not Stage.HANDSHAKE
        if not lost and (backend := self.backends.get(check.backend)) is not None:
            backend.splits[check.split] = check.failure is None

    def keep(self, present: Sequence[Address], supported: Mapping[tuple[Address, TlsVersion], bool]) -> None:
        """Open accounts for backends that came, with counters at 0, and drop those of backends that left.

        Args:
            present: what the target stands for now.
            supported: whether a backend speaks a version, where that is known.
        """
        self.present = frozenset(present)
        self.supported = dict(supported)
        for address in self.backends.keys() - self.present:
            gone = self.backends.pop(address)
            self.outlived.update(version for version, session in gone.sessions.items() if session.issued)
        for address in dict.fromkeys(present):
            if address not in self.backends and len(self.backends) >= self._max_backends:
                self.capped += 1
            else:
                self._open(address)
        for version in self.versions.values():
            version.leaves = {address: leaf for address, leaf in version.leaves.items() if address in self.present}

    def _open(self, address: Address) -> None:
        backend = self.backends.setdefault(address, BackendAccount())
        for version in self.versions:
            if self.supported.get((address, version)) is not False:
                session = backend.sessions.setdefault(version, SessionAccount())
                session.expect(Origin.SELF)
                if len(self.present) > 1:
                    session.expect(Origin.PEER)
                if version in self.outlived:
                    session.expect(Origin.DEPARTED)
