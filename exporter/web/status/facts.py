"""What the status page keeps of each target, as small frozen facts. No ticket and no name of a key is among them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from exporter.model.failure import Failure
from exporter.model.source import BackendFacts as Place
from exporter.model.target import Address, Target, TlsVersion
from exporter.model.verdicts import BackendState, Cause, Mechanism, OfferOutcome, TargetState

Pair = tuple[Address, Address]
"""Who issued a ticket, and to whom it was offered."""

UNWELCOME = frozenset(
    {
        TargetState.NO_TICKETS,
        TargetState.BROKEN,
        TargetState.UNEVEN,
        TargetState.MIXED,
        TargetState.ONE_WAY,
        TargetState.SPLIT,
    }
)
"""States that are well only where `expect` allows them."""


class Tone(IntEnum):
    """How urgent a target is, the worst first."""

    DOWN = 0
    """No backend completed a handshake."""
    FINDING = 1
    """Something should be looked after."""
    NOTICE = 2
    """Something goes on that may be meant, such as a rotation."""
    WAITING = 3
    """There was no round yet."""
    WELL = 4


@dataclass(frozen=True, slots=True)
class Point:
    """One round of one TLS version: medians in seconds, None without an undisturbed sample, and counts of offers.

    Attributes:
        offers, hits: of tickets offered to the backend that issued them or to its neighbours.
        meant: whether refusals are what the owner wants of the state that was seen.
    """

    tls: TlsVersion
    full: float | None
    resumed: float | None
    server: float | None
    offers: int
    hits: int
    meant: bool


@dataclass(frozen=True, slots=True)
class RoundPoint:
    """One round; `started` is Unix time in seconds, `elapsed` seconds."""

    number: int
    started: float
    elapsed: float
    tone: Tone
    points: tuple[Point, ...]

    def of(self, version: TlsVersion) -> Point | None:
        """Return what it showed of a TLS version."""
        return next((point for point in self.points if point.tls is version), None)


@dataclass(frozen=True, slots=True)
class Span:
    """From when on a backend was in a state with a key; it lasts until the next span of its lane.

    Attributes:
        since: Unix time in seconds.
        group: number of the key that it shares with others; None where that is not known.
        state: None where the backend had left.
    """

    since: float
    group: int | None
    state: BackendState | None


@dataclass(frozen=True, slots=True)
class StateSpan:
    """From when on the target's backends stood to each other in a way."""

    since: float
    state: TargetState
    healthy: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """The last offer of one backend's ticket to another.

    Attributes:
        number: of the round in which it was made.
        cause: of a refusal, as far as it is known.
    """

    outcome: OfferOutcome
    number: int
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """A leaf as it is shown to people; times are Unix times in seconds."""

    sha256: str
    subject: str
    issuer: str
    names: tuple[str, ...]
    name_count: int
    key_type: str
    signature_algorithm: str
    not_before: float
    not_after: float
    chain_count: int
    chain_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HandshakeFacts:
    """The last full handshake with a backend.

    Attributes:
        at: Unix time of its round, in seconds.
        duration, server, rtt: seconds, None where they are not known.
        tickets: how many came.
        lifetimes: their hints in seconds, each once.
        problem: why the certificate did not verify.
    """

    at: float
    cipher: str
    group: str
    alpn: str
    duration: float
    server: float | None
    rtt: float | None
    round_trips: int
    sent_bytes: int
    received_bytes: int
    hello_retry: bool
    tickets: int
    lifetimes: tuple[int, ...]
    certificate: CertificateFacts | None
    name_matches: bool | None
    problem: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendFacts:
    """One backend, one TLS version, as of the last round.

    Attributes:
        key: salted number that stands for the ticket key, None where no name is visible.
        key_since: Unix time in seconds at which it was first seen there.
        oldest_accepted, youngest_refused: ages of tickets in seconds.
        failure: why its state is `failed`.
    """

    state: BackendState
    mechanism: Mechanism
    group: int | None
    key: int | None
    key_since: float | None
    keys_seen: int
    oldest_accepted: float | None
    youngest_refused: float | None
    failure: Failure | None
    handshake: HandshakeFacts | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFacts:
    """One TLS version of a target.

    Attributes:
        text, advice: the verdict in words, and what to do about it.
        groups: how many ticket keys are in use, None where that cannot be told.
        odd: backends that stand against the majority.
        states: how the target's state came and went, oldest first.
        lanes: the same of each backend, those that have left too as long as they are in view.
        cells: recent offers.
    """

    state: TargetState
    healthy: bool
    meant: bool
    text: str
    advice: str
    groups: int | None
    odd: tuple[Address, ...]
    backends: Mapping[Address, BackendFacts]
    states: tuple[StateSpan, ...] = ()
    lanes: Mapping[Address, tuple[Span, ...]] = field(default_factory=dict)
    cells: Mapping[Pair, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once; `at` is Unix time in seconds."""

    at: float
    text: str
    bad: bool


@dataclass(frozen=True, slots=True)
class Trouble:
    """A failure, with all that were like it.

    Attributes:
        backend: None where the whole target is meant.
        first, last: Unix times in seconds.
        count: how often it came.
    """

    backend: Address | None
    failure: Failure
    first: float
    last: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class LogLine:
    """What the log says of a round; `at` is Unix time in seconds."""

    at: float
    text: str
    warning: bool


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence, and whether all is well with it."""

    text: str
    well: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that is kept of one target.

    Attributes:
        backends: what the name stood for in the last round.
        places: what an orchestrator says of backends, also of some that are not probed, those first that are not ready.
        unplaced: of how many more it says something.
        left_out: addresses beyond the target's bound, which are not probed.
        remarks: what is to be said of it beside the verdicts.
        connections: what becomes of connections beyond the handshake.
        rounds, events, log: oldest first.
        troubles: failures, the one that came last at the end; they outlive many rounds.
    """

    target: Target
    tone: Tone = Tone.WAITING
    backends: tuple[Address, ...] = ()
    places: Mapping[Address, Place] = field(default_factory=dict)
    unplaced: int = 0
    left_out: int = 0
    versions: Mapping[TlsVersion, VersionFacts] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    connections: tuple[Remark, ...] = ()
    rounds: tuple[RoundPoint, ...] = ()
    events: tuple[Event, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    log: tuple[LogLine, ...] = ()

    @property
    def last_end(self) -> float | None:
        """Unix time at which the last round ended, None before the first."""
        return self.rounds[-1].started + self.rounds[-1].elapsed if self.rounds else None
