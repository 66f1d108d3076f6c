"""What was concluded: closed lists of states, and the frozen result of a round."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from exporter.model.connections import HeldEnd, HelloCheck, Idle, Mismatch, Party, RequestPair, Staple, Trait
from exporter.model.failure import Failure
from exporter.model.observation import Observation
from exporter.model.source import BackendFacts
from exporter.model.target import Address, Target, TlsVersion


class Mechanism(StrEnum):
    """How a backend's sessions are kept, as far as its tickets show."""

    UNKNOWN = "unknown"
    NO_TICKETS = "no_tickets"
    STATEFUL = "stateful"
    RFC5077 = "rfc5077"
    SHORT_NAME = "short_name"
    """A key name of four bytes: mbedTLS, Java."""
    S2N = "s2n"
    HIDDEN = "hidden"
    """Tickets that carry no key name: Go from 1.21, some AEAD formats."""


class BackendState(StrEnum):
    """How one backend resumes, for one TLS version."""

    RESUMES = "resumes"
    STATEFUL = "stateful"
    REFUSES = "refuses"
    NO_TICKETS = "no_tickets"
    MIXED = "mixed"
    KILLS = "kills"
    FAILED = "failed"
    NOT_SPOKEN = "not_spoken"
    UNKNOWN = "unknown"


class TargetState(StrEnum):
    """How the backends of a target stand to each other, for one TLS version."""

    UNKNOWN = "unknown"
    NO_TICKETS = "no_tickets"
    BROKEN = "broken"
    STATEFUL = "stateful"
    UNEVEN = "uneven"
    MIXED = "mixed"
    ROTATING = "rotating"
    ONE_WAY = "one_way"
    SPLIT = "split"
    CONSISTENT = "consistent"


class Cause(StrEnum):
    """Why an offered ticket was not accepted, as far as that can be told from outside."""

    KEY = "key"
    EXPIRED = "expired"
    SINGLE_USE = "single_use"
    SESSION_ID = "session_id"
    CERTIFICATE = "certificate"
    CIPHER = "cipher"
    VERSION = "version"
    UNEXPLAINED = "unexplained"


class OfferOutcome(StrEnum):
    """How one offer ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    KILLED = "killed"
    NOT_OFFERED = "not_offered"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Crossing:
    """One offer, judged.

    Attributes:
        offered_key, issued_key: key names where the mechanism shows them, else None.
        cause: of a refusal; None otherwise.
    """

    issuer: Address
    acceptor: Address
    outcome: OfferOutcome
    offered_key: bytes | None = field(default=None, repr=False)
    issued_key: bytes | None = field(default=None, repr=False)
    cause: Cause | None = None


class Weakness(StrEnum):
    """What is wrong with the key behind a ticket, as far as the ticket's bytes alone show it."""

    ZERO_KEY = "zero_key"
    """Encrypted or authenticated with a key of zeros."""
    GUESSABLE_KEY = "guessable_key"
    """With a key of some other well-known pattern."""
    ZERO_NAME = "zero_name"
    """The key's name is all zeros, as of a key file that was never filled."""


class Danger(StrEnum):
    """A sign of danger that a backend's tickets show."""

    WEAK_KEY = "weak_key"
    EARLY_DATA = "early_data"
    """0-RTT is offered, whose requests can be replayed (RFC 8446 section 8)."""
    LONG_LIFETIME = "long_lifetime"
    """The lifetime hint is over seven days (RFC 8446 section 4.6.1)."""
    KILLS = "kills"
    """An offered ticket ends the connection."""


class KeyEventKind(StrEnum):
    """What happened to a backend's ticket key."""

    CHANGE = "change"
    """It encrypts with another key than before, or is new and has one that the fleet did not have."""
    BREAK = "break"
    """Tickets that were within their life are not accepted any more."""


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """Something that happened to the ticket key of one backend, told once, in the round that showed it.

    Attributes:
        backend: to whom; for tickets of a departed backend, that one.
        old_key, new_key: names where they are visible.
    """

    kind: KeyEventKind
    backend: Address
    old_key: bytes | None = field(default=None, repr=False)
    new_key: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Survival:
    """How long a backend's tickets lived, of the key that it has now; ages in seconds.

    Attributes:
        oldest_accepted: None until one was.
        youngest_refused: None until one was that no change of key explains.
        hint: the lifetime that the server promised.
    """

    oldest_accepted: float | None = None
    youngest_refused: float | None = None
    hint: int = 0


@dataclass(frozen=True, slots=True)
class Census:
    """How many ticket keys answer at one address.

    Attributes:
        keys: distinct key names over independent full handshakes; 0 where names are hidden.
        offers, hits: of fixed tickets from full handshakes, offered back to the address on connections of their own.
        effective: 1 over the hit rate, the effective number of key groups; None without a hit.
        effective_low, effective_high: its 95 % interval (Wilson); `effective_high` None where it has no bound.
    """

    keys: int
    offers: int
    hits: int
    effective: float | None = None
    effective_low: float | None = None
    effective_high: float | None = None


@dataclass(frozen=True, slots=True)
class BackendVerdict:
    """One backend, one TLS version.

    Attributes:
        key_name: name of the key that it encrypts with, None where no name is visible; never exported as it is.
        key_group: small number, the same for backends that share a key, in order of first sight; None if not known.
        key_since: Unix time in seconds at which that key was first seen at this backend; None if no name is visible.
        keys_seen: how many keys it was seen to encrypt with since it is watched.
        weakness: of any of its tickets, ever since.
        dangers: signs that stand now.
        failure: why the state is `failed`.
    """

    state: BackendState
    mechanism: Mechanism = Mechanism.UNKNOWN
    key_name: bytes | None = field(default=None, repr=False)
    key_group: int | None = None
    key_since: float | None = None
    keys_seen: int = 0
    weakness: Weakness | None = None
    dangers: tuple[Danger, ...] = ()
    survival: Survival = field(default_factory=Survival)
    census: Census | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class VersionVerdict:
    """A target, one TLS version.

    Attributes:
        judged: how many backends the state was drawn from; the others were left out.
        crossings: this round's offers, judged.
        groups: how many ticket keys are in use, None where that cannot be told.
        odd: the backends that stand against the majority, where some do.
        ratios: resumed over full duration, of each undisturbed adjacent pair of this round.
        events: what happened to keys, each told in one round alone.
        parties: who is alike in each trait that at least two backends have shown, the largest party first.
        mismatches: backends that surely answer otherwise over resumed connections.
    """

    state: TargetState
    backends: Mapping[Address, BackendVerdict] = field(default_factory=dict)
    crossings: tuple[Crossing, ...] = ()
    judged: int = 0
    groups: int | None = None
    odd: tuple[Address, ...] = ()
    ratios: tuple[float, ...] = ()
    events: tuple[KeyEvent, ...] = ()
    parties: Mapping[Trait, tuple[Party, ...]] = field(default_factory=dict)
    mismatches: tuple[Mismatch, ...] = ()

    @property
    def differences(self) -> Mapping[Trait, int]:
        """How many values each trait has over the backends, where it is more than one."""
        return {trait: len(parties) for trait, parties in self.parties.items() if len(parties) > 1}


@dataclass(frozen=True, slots=True)
class ForeignOffer:
    """A session of another target, offered to a backend of this one: if it is accepted, they share session state.

    Attributes:
        issuer_target: name of the other target.
        outcome: never `killed`, since that is not asked after.
    """

    issuer_target: str
    backend: Address
    version: TlsVersion
    outcome: OfferOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResult:
    """One pass over all backends of one target.

    Attributes:
        number: rounds of this target before this one.
        started: Unix time in seconds.
        elapsed: seconds.
        backends: what the name stood for in this round.
        failures: all that went wrong, each with its backend (None where the whole target is meant); a TLS
            version that a backend does not speak is a fact and not among them.
        supported: whether a backend speaks a version; absent where it is not known.
        unreached: backends whose turn did not come before the round's end.
        foreign: offers of other targets' sessions; they are in none of the verdicts.
        request_pairs: a request that opened a connection beside one that did not.
        staples: what each backend stapled when it was last asked, some rounds ago maybe.
        hello_checks: of this round.
        idles: what is known of idle connections so far, where one is or was held.
        held_ends: how held connections ended since the round before.
        left_out: addresses that the target stands for beyond its bound, which were not probed.
        facts: what an orchestrator says of backends, also of those that are not ready and were not probed.
    """

    target: Target
    number: int
    started: float
    elapsed: float
    backends: tuple[Address, ...]
    observations: tuple[Observation, ...] = ()
    verdicts: Mapping[TlsVersion, VersionVerdict] = field(default_factory=dict)
    failures: tuple[tuple[Address | None, Failure], ...] = ()
    supported: Mapping[tuple[Address, TlsVersion], bool] = field(default_factory=dict)
    unreached: tuple[Address, ...] = ()
    foreign: tuple[ForeignOffer, ...] = ()
    request_pairs: tuple[RequestPair, ...] = ()
    staples: Mapping[Address, Staple] = field(default_factory=dict)
    hello_checks: tuple[HelloCheck, ...] = ()
    idles: Mapping[Address, Idle] = field(default_factory=dict)
    held_ends: tuple[HeldEnd, ...] = ()
    left_out: int = 0
    facts: Mapping[Address, BackendFacts] = field(default_factory=dict)
