"""What TLS was measured to cost on this machine, between a plain client and servers that are known."""

from dataclasses import dataclass
from enum import StrEnum

from exporter.model.observation import Mode
from exporter.model.target import TlsVersion

GIB = 1 << 30


class Transport(StrEnum):
    """What a reference server speaks."""

    PLAIN = "plain"
    """HTTP in clear."""
    TLS = "tls"
    """The same over TLS 1.3, with a certificate on P-256."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a handshake's cost hangs on.

    Attributes:
        key_type: of the server's certificate, such as `ecdsa-p256` or `rsa-2048`.
    """

    key_type: str
    tls: TlsVersion


KINDS = (
    Kind("ecdsa-p256", TlsVersion.TLS13),
    Kind("rsa-2048", TlsVersion.TLS13),
    Kind("ecdsa-p256", TlsVersion.TLS12),
)
"""Those that are sampled again and again."""


class Comparison(StrEnum):
    """What is compared beside handshakes."""

    REQUESTS = "requests"
    """Requests over TLS with requests in clear."""
    REUSE = "reuse"
    """Requests on a connection that is kept alive with requests that open one each."""
    TRANSFERS = "transfers"
    """Bytes over TLS with bytes in clear."""


@dataclass(frozen=True, slots=True)
class Shake:
    """One handshake, or several of the same one right after another.

    Attributes:
        mode: what it was meant to be.
        seconds: that the client waited, TCP connect left out; the median of several.
        cpu: seconds that the server computed for each, from accepting the connection to closing it.
        resumed: how many did resume.
        asked: how many were made.
    """

    mode: Mode
    seconds: float
    cpu: float
    resumed: int
    asked: int = 1

    @property
    def astray(self) -> int:
        """How many resumed and were not meant to, or the other way round."""
        return self.asked - self.resumed if self.mode is Mode.RESUMED else self.resumed

    @property
    def as_meant(self) -> bool:
        """Whether none went astray."""
        return not self.astray


@dataclass(frozen=True, slots=True)
class Pass:
    """Handshakes of one kind, one right after the other, so that they can be compared."""

    kind: Kind
    shakes: tuple[Shake, ...]

    def find(self, mode: Mode) -> Shake | None:
        """Return the handshake of a mode, None where there is none that was as it was meant."""
        return next((shake for shake in self.shakes if shake.mode is mode and shake.as_meant), None)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two adjacent figures of the same thing, the first of which is the yardstick."""

    base: float
    other: float

    @property
    def ratio(self) -> float:
        """The second by the first; the first is never 0, since both took time."""
        return self.other / self.base


@dataclass(frozen=True, slots=True)
class Sample:
    """What a short measurement brought.

    Attributes:
        requests: requests a second on a connection that is kept alive, in clear and over TLS.
        reuse: requests a second over TLS, with a connection for each and on one that is kept alive.
        transfers: processor seconds of the server for each GiB, in clear and over TLS.
        cpu: processor seconds that the measurement itself took, client and servers together.
    """

    passes: tuple[Pass, ...]
    requests: tuple[Pair, ...]
    reuse: tuple[Pair, ...]
    transfers: tuple[Pair, ...]
    cpu: float


class Operation(StrEnum):
    """What a key is used for in a handshake."""

    SIGN = "sign"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class SignaturePrice:
    """Processor seconds of one operation."""

    key_type: str
    operation: Operation
    cpu: float
