"""What a web configuration file says, read and found good."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class Stamp(NamedTuple):
    """What tells one state of a file from another without reading it."""

    device: int
    inode: int
    size: int
    modified: int
    """In nanoseconds of Unix time."""


@dataclass(frozen=True, slots=True)
class TlsLock:
    """How TLS is spoken.

    Attributes:
        context: ready for use; each reading of the file makes a new one, so that no session outlives a change.
        allowed_sans: one of these must stand in the client's certificate; empty is no such demand.
    """

    context: ssl.SSLContext
    allowed_sans: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A token bucket's measures.

    Attributes:
        interval: seconds in which one request is earned.
        burst: how many can be saved up, at least one.
    """

    interval: float
    burst: int


@dataclass(frozen=True, slots=True)
class Lock:
    """Who may come in, and how.

    Attributes:
        tls: None is plain HTTP.
        users: bcrypt hashes by user name, both as bytes; empty lets everybody in.
        headers: sent with each answer.
        rate: None is no limit.
        stamps: of the files that it was made from, from before they were read; None for one that was missing.
    """

    tls: TlsLock | None = None
    users: Mapping[bytes, bytes] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    rate: RateLimit | None = None
    stamps: Mapping[Path, Stamp | None] = field(default_factory=dict)


OPEN = Lock()
"""No lock at all."""
