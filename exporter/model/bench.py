"""What `tlsprobe bench` found, as it is told in JSON, too."""

from dataclasses import dataclass
from enum import StrEnum

from exporter.model.observation import Mode
from exporter.model.target import TlsVersion

BUSY_PROCESSORS = 0.25
"""That others keep busy; the kernel counts by ticks, so that a machine with nobody else on it may show a tenth."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A summary of figures.

    Attributes:
        low, high: a tenth of the figures is below, and a tenth above.
        count: how many there are.
    """

    median: float
    low: float
    high: float
    count: int


class Role(StrEnum):
    """Why a kind of handshake is measured."""

    ECDSA = "ecdsa"
    RSA = "rsa"
    TLS12 = "tls12"
    CONTROL = "control"
    """A server that issues no tickets: whoever finds resumption there is wrong."""
    OWN = "own"
    """With the user's certificate."""


@dataclass(frozen=True, slots=True)
class HandshakeRow:
    """Handshakes of one kind and mode.

    Attributes:
        asked: how many were made.
        resumed: how many of them really resumed.
        client_seconds: that the client waited, TCP connect left out.
        server_cpu_seconds: that the server computed, from accepting the connection to closing it.
        cpu_to_full, time_to_full: to the full handshake of the same pass; None for that one.
        cpu_to_ecdsa: of a full handshake, to that with ECDSA over TLS 1.3 of the same pass; None for that one
            and for other modes.
    """

    role: Role
    key_type: str
    tls: TlsVersion
    mode: Mode
    asked: int
    resumed: int
    client_seconds: Spread
    server_cpu_seconds: Spread
    cpu_to_full: Spread | None
    time_to_full: Spread | None
    cpu_to_ecdsa: Spread | None

    @property
    def due(self) -> int:
        """How many should have resumed."""
        return self.asked if self.mode is Mode.RESUMED and self.role is not Role.CONTROL else 0


@dataclass(frozen=True, slots=True)
class RateRow:
    """Pairs of requests a second.

    Attributes:
        base, other: requests a second, the second of which is told as a share or multiple of the first.
    """

    base: Spread
    other: Spread
    ratio: Spread


@dataclass(frozen=True, slots=True)
class BulkRow:
    """Large bodies.

    Attributes:
        tls: None in clear.
        cipher: in OpenSSL's words, "" in clear.
        rate_to_plain: the rate to that in clear of the same turn; None in clear.
    """

    tls: TlsVersion | None
    cipher: str
    bytes_per_second: Spread
    server_cpu_seconds_per_gib: Spread
    rate_to_plain: Spread | None


@dataclass(frozen=True, slots=True)
class SignatureRow:
    """Processor seconds of a signature and of its verification."""

    key_type: str
    sign_cpu_seconds: float
    verify_cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Report:
    """All of it.

    Attributes:
        seconds: that it took.
        library: the TLS library and its version.
        requests: on one connection, in clear and over TLS.
        reuse: over TLS, with a connection for each request and on one connection.
        missing: what could not be measured, and why.
        speed: seconds for each GiB by `openssl speed -evp aes-256-gcm`; None where that program is not there.
        others_busy_processors: how many processors others kept busy meanwhile, on average; None where that is not told.
    """

    seconds: float
    library: str
    handshakes: tuple[HandshakeRow, ...]
    requests: RateRow
    reuse: RateRow
    bulk: tuple[BulkRow, ...]
    signatures: tuple[SignatureRow, ...]
    missing: tuple[str, ...]
    speed: float | None
    others_busy_processors: float | None

    @property
    def machine_busy(self) -> bool | None:
        """Whether others took so much that the figures are of a busy machine; None where that is not known."""
        return None if self.others_busy_processors is None else self.others_busy_processors >= BUSY_PROCESSORS
