"""What is remembered of tickets that died within their life."""

from dataclasses import dataclass, field

from exporter.model.target import Address
from exporter.model.verdicts import Mechanism


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Old tickets were refused by a backend whose keys have no visible names, and chance is not ruled out yet.

    Attributes:
        since: Unix time in seconds of the round in which they were refused.
        support: how many connections have spoken for one key before, and for another one after.
    """

    since: float
    support: int


@dataclass(frozen=True, slots=True)
class Losses:
    """What is remembered of one backend's tickets that died.

    Attributes:
        keys: names of the keys that it has lost and not taken up again.
        doubtful: names of keys whose tickets it refused, before it was settled on another one.
        since: Unix time in seconds of the last round in which tickets were lost whose key has no visible name.
        streak: how many of its tickets in a row it accepted at home.
        suspicion: what is not sure yet, where names are hidden.
    """

    keys: tuple[bytes, ...] = field(default=(), repr=False)
    doubtful: tuple[bytes, ...] = field(default=(), repr=False)
    since: float | None = None
    streak: int = 0
    suspicion: Suspicion | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """A backend that has left, whose tickets clients may still hold.

    Attributes:
        refused: who of those present has refused them since somebody last accepted one.
        counted: that they are dead was told.
    """

    mechanism: Mechanism
    refused: frozenset[Address] = frozenset()
    counted: bool = False
