"""What a prober on one side of the link is told, and what it saw. Lines of JSON carry both."""

from dataclasses import dataclass
from typing import TypeVar

import msgspec

from exporter.model.observation import Timing
from exporter.model.target import TlsVersion

_Kind = TypeVar("_Kind")


@dataclass(frozen=True, slots=True)
class Walk:
    """Handshakes at each of some hosts, one after another, and side by side for several hosts.

    Attributes:
        offsets: seconds from the turn's beginning until the first one at each host is due.
        seconds: how long new ones begin.
        pace: seconds from one to the next, or more where they take longer.
    """

    offsets: dict[str, float]
    seconds: float
    pace: float


@dataclass(frozen=True, slots=True)
class Turn:
    """Full handshakes of one version.

    Attributes:
        begin: by the monotonic clock, which all processes share.
    """

    version: TlsVersion
    port: int
    begin: float
    walk: Walk


@dataclass(frozen=True, slots=True)
class Sample:
    """What the prober said of one handshake."""

    timing: Timing
    hello_retry: bool


Samples = dict[str, tuple[Sample, ...]]
"""The handshakes at each host, in their order."""


def write_line(content: Turn | Samples) -> bytes:
    """Return one line."""
    return msgspec.json.encode(content) + b"\n"


def read_line(line: bytes, kind: type[_Kind]) -> _Kind:
    """Parse a line."""
    return msgspec.json.decode(line, type=kind)
