"""What was concluded: closed lists of states, and the frozen result of a round."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from exporter.model.failure import Failure
from exporter.model.observation import Observation
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


@dataclass(frozen=True, slots=True)
class BackendVerdict:
    """One backend, one TLS version.

    Attributes:
        key_name: name of the key that it encrypts with, None where no name is visible; never exported as it is.
        key_group: small number, the same for backends that share a key, in order of first sight; None if not known.
        failure: why the state is `failed`.
    """

    state: BackendState
    mechanism: Mechanism = Mechanism.UNKNOWN
    key_name: bytes | None = field(default=None, repr=False)
    key_group: int | None = None
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
    """

    state: TargetState
    backends: Mapping[Address, BackendVerdict] = field(default_factory=dict)
    crossings: tuple[Crossing, ...] = ()
    judged: int = 0
    groups: int | None = None
    odd: tuple[Address, ...] = ()
    ratios: tuple[float, ...] = ()


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
