"""What is remembered of one target from round to round."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import BackendState, Cause, Mechanism, OfferOutcome, Survival
from exporter.verdict.census import Samples
from exporter.verdict.dangers import Signs
from exporter.verdict.differences import Looks
from exporter.verdict.keyline import KeyLine
from exporter.verdict.losses import Gone, Losses
from exporter.verdict.mechanism import Batch
from exporter.verdict.mismatches import Replies
from exporter.verdict.rotation import Rotation

Pair = tuple[Address, Address]
"""Issuer and acceptor of an offered ticket."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a backend last took a peer's tickets.

    Attributes:
        outcome: accepted or refused.
        round: the number of the round that showed it.
        offered_key: name of the key that had been offered, None where it was not visible.
        refusals: how often it was refused since it was last accepted.
        acceptor_key: name of the key with which the acceptor then encrypted, None where it was not visible.
    """

    outcome: OfferOutcome
    round: int
    cause: Cause | None = None
    offered_key: bytes | None = field(default=None, repr=False)
    refusals: int = 0
    acceptor_key: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class BackendMemory:
    """What is remembered of one backend, for one TLS version.

    Attributes:
        batches: its last tickets.
        state: the last one that was proven; a failed full handshake proves none.
        proven: the number of the round that proved it.
        doubts: rounds in a row that spoke for a worse state.
        suspicion: how strongly it looks as if offers end connections there.
        contradictions: numbers of the rounds in which it accepted and refused what it should have taken alike.
        clean: rounds in a row in which it showed one key and took all its tickets.
        accepted: heads of the last tickets that it accepted.
        spending: it was seen to accept a ticket but once.
        dropped: number of the last round in which it refused a session that it had kept itself, alone.
        reusing: it was seen to accept a ticket more than once.
        torn: number of the last round in which it refused its own ticket since it encrypted with another key.
        group: number of its key group when that was last known.
        spoken: it has once completed a handshake.
        newcomer: others were known before it was.
        born: number of the round in which it was first there.
        look: fingerprint of the certificate, and the cipher, of the last full handshake.
        heralds: names of keys that it was seen to encrypt with while it was settled on another, and since when.
        keys_seen: how many keys it was seen to be settled on, or to have beside.
        looks: what its full handshakes showed.
        replies: what its HTTP answers said.
    """

    batches: tuple[Batch, ...] = ()
    state: BackendState = BackendState.UNKNOWN
    proven: int = 0
    mechanism: Mechanism = Mechanism.UNKNOWN
    doubts: int = 0
    suspicion: int = 0
    contradictions: tuple[int, ...] = ()
    clean: int = 0
    accepted: tuple[bytes, ...] = field(default=(), repr=False)
    spending: bool = False
    reusing: bool = False
    dropped: int | None = None
    torn: int | None = None
    group: int | None = None
    spoken: bool = False
    newcomer: bool = False
    born: int = 0
    look: tuple[bytes, str] | None = field(default=None, repr=False)
    line: KeyLine = field(default_factory=KeyLine)
    heralds: Mapping[bytes, float] = field(default_factory=dict, repr=False)
    keys_seen: int = 0
    losses: Losses = field(default_factory=Losses)
    samples: Samples = field(default_factory=Samples)
    survival: Survival = field(default_factory=Survival)
    signs: Signs = field(default_factory=Signs)
    looks: Looks | None = None
    replies: Replies = field(default_factory=Replies)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of key groups in order of first sight.

    Attributes:
        by_name: those of keys with a visible name, the one seen longest ago first.
        given: how many numbers were given so far.
    """

    by_name: Mapping[bytes, int] = field(default_factory=dict, repr=False)
    given: int = 0


@dataclass(frozen=True, slots=True)
class KeySight:
    """A key with which a backend was seen to encrypt.

    Attributes:
        digest: stands for the key's name, which a restart does not bring back.
        first_seen, last_seen: Unix time in seconds.
        current: the backend encrypts with it, as far as is known.
    """

    digest: str
    first_seen: float
    last_seen: float
    current: bool = True


@dataclass(frozen=True, slots=True)
class VersionHistory:
    """What is remembered of a target for one TLS version.

    Attributes:
        known: names of keys that may be believed, the one seen longest ago first.
        book: the keys that backends were seen to encrypt with, in order of first sight, also of some that have left.
        gone: backends that have left.
    """

    backends: Mapping[Address, BackendMemory] = field(default_factory=dict)
    standing: Mapping[Pair, Standing] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=Numbers)
    known: tuple[bytes, ...] = field(default=(), repr=False)
    book: Mapping[Address, tuple[KeySight, ...]] = field(default_factory=dict)
    gone: Mapping[Address, Gone] = field(default_factory=dict)
    rotation: Rotation = field(default_factory=Rotation)


@dataclass(frozen=True, slots=True)
class History:
    """What is remembered of a target.

    Attributes:
        round: how many rounds were judged so far.
    """

    round: int = 0
    versions: Mapping[TlsVersion, VersionHistory] = field(default_factory=dict)

    def of(self, version: TlsVersion) -> VersionHistory:
        """Give what is remembered for one TLS version, which may be nothing."""
        return self.versions.get(version, VersionHistory())


EMPTY = History()
