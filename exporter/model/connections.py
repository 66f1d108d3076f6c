"""What became of connections: requests that shared one, idle ones, ways to say hello, and stapled answers."""

from dataclasses import dataclass
from enum import StrEnum

from exporter.model.failure import Failure
from exporter.model.target import Address


class End(StrEnum):
    """How a connection that requests shared came to its end."""

    CONNECTION_CLOSE = "connection_close"
    """Its first answer said `Connection: close`."""
    HTTP_1_0 = "http_1_0"
    """Its first answer was of HTTP/1.0 and did not say `keep-alive`."""
    CLOSED = "closed"
    """It closed behind an answer without having said so."""
    RESET = "reset"
    IDLE_TIMEOUT = "idle_timeout"
    """It closed while nothing was asked."""
    IN_FLIGHT = "in_flight"
    """It closed while a request was on its way, with no byte of an answer: a proxy's client gets a 502 for that."""
    MAX_REQUESTS = "max_requests"
    """It was announced to close, or closed, with an answer that was not the first."""
    GOAWAY = "goaway"
    """By HTTP/2's own word (RFC 9113 section 6.8)."""
    OWN_LIMIT = "own_limit"
    """We had asked as often as we meant to."""
    ERROR = "error"
    """An answer was broken or did not come."""


@dataclass(frozen=True, slots=True)
class Announced:
    """What a server says of how long it keeps a connection: the Keep-Alive header (RFC 2068 section 19.7.1.1).

    Attributes:
        timeout: seconds that an idle connection is kept.
        most: requests that it may still carry.
    """

    timeout: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class RecordSizes:
    """Plaintext sizes of the TLS records in which an answer came.

    Attributes:
        first, largest: bytes.
        count: records in all.
    """

    first: int
    largest: int
    count: int


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A complete response.

    Attributes:
        version: such as "1.1" or "2".
        body_bytes: bytes of content read.
        duration: seconds from the request's departure to the first byte of the answer, path included.
        keep_alive: whether the connection could have carried another request.
        disturbed: a retransmission or missing stamp touched the duration.
        unexpected: that the settings do not expect the status.
        announced: what its head said of the connection's life.
        records: None where they were not noted.
    """

    status: int
    version: str
    body_bytes: int
    duration: float
    keep_alive: bool
    disturbed: bool = False
    unexpected: Failure | None = None
    announced: Announced = Announced()
    records: RecordSizes | None = None


@dataclass(frozen=True, slots=True)
class Reuse:
    """What came of further requests on a connection whose first one was answered.

    Attributes:
        attempts: how often another request was wanted; the last one may have found the connection at its end.
        answers: to the further requests, in order.
        failure: of the request that broke, None where none did.
        goaway: HTTP/2's error code in the server's GOAWAY, None without one.
        large: the answer for a larger body, where one was asked for at the end.
    """

    attempts: int
    answers: tuple[HttpAnswer, ...]
    end: End
    failure: Failure | None = None
    goaway: int | None = None
    large: HttpAnswer | Failure | None = None


@dataclass(frozen=True, slots=True)
class RequestPair:
    """Times of two adjacent requests in seconds: one that opened a connection, that included, and one that did not."""

    new: float
    reused: float

    @property
    def ratio(self) -> float | None:
        """How many times as long the new connection took."""
        return self.new / self.reused if self.reused > 0 else None


@dataclass(frozen=True, slots=True)
class Idle:
    """What is known of how long a backend keeps idle connections, in seconds.

    Attributes:
        lived: the longest time after which one still answered; 0 while that is not known.
        died: the shortest time after which one was found closed, None until one was.
    """

    lived: float = 0.0
    died: float | None = None


class Farewell(StrEnum):
    """What a backend that left its name did with a connection that was held open."""

    DRAINED = "drained"
    """It said goodbye: GOAWAY, `Connection: close` or close_notify."""
    DROPPED = "dropped"
    """The connection broke without a word."""
    ALIVE = "alive"
    """It still answered when we let go of it."""


@dataclass(frozen=True, slots=True)
class HeldEnd:
    """That a held connection ended: told once.

    Attributes:
        farewell: only where the backend had left, or left by this.
    """

    backend: Address
    end: End
    farewell: Farewell | None = None


class HelloSplit(StrEnum):
    """How a ClientHello was cut in two."""

    SEGMENTS = "segments"
    """One TLS record in two TCP segments."""
    RECORDS = "records"
    """Two TLS records (RFC 8446 section 5.1), in one segment."""


@dataclass(frozen=True, slots=True)
class HelloCheck:
    """Whether a backend takes a ClientHello that comes in two parts.

    Attributes:
        failure: why it did not, though a whole one was taken right before.
    """

    backend: Address
    split: HelloSplit
    failure: Failure | None = None


class StapleStatus(StrEnum):
    """What a stapled OCSP answer says (RFC 6960, RFC 6066 section 8)."""

    NONE = "none"
    """Nothing was stapled."""
    GOOD = "good"
    REVOKED = "revoked"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    """Its next update should have been made by now."""
    UNREADABLE = "unreadable"
    """It is no OCSP response, or one that tells of an error of the responder's."""


@dataclass(frozen=True, slots=True)
class Staple:
    """A stapled OCSP answer, or that there was none.

    Attributes:
        produced_at, this_update, next_update: Unix time in seconds; None where the answer does not say.
    """

    status: StapleStatus
    produced_at: float | None = None
    this_update: float | None = None
    next_update: float | None = None

    @property
    def bad(self) -> bool:
        """Whether something is wrong with it; that nothing is stapled is not."""
        return self.status not in {StapleStatus.NONE, StapleStatus.GOOD}


class Trait(StrEnum):
    """What should be alike at all backends of a name; where it is not, a rollout may be half done."""

    CERTIFICATE = "certificate"
    CHAIN = "chain"
    ALPN = "alpn"
    VERSIONS = "versions"
    CIPHER = "cipher"
    TICKET_LIFETIME = "ticket_lifetime"
    EARLY_DATA = "early_data"


@dataclass(frozen=True, slots=True)
class Party:
    """Backends that are alike in a trait.

    Attributes:
        value: what they have, in a word or two for people; never a label.
        backends: in order.
    """

    value: str
    backends: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """That a backend answers otherwise over a resumed connection than over a full handshake's.

    Attributes:
        full, resumed: the two statuses.
        answers: how many of this round's showed it.
    """

    backend: Address
    full: int
    resumed: int
    answers: int = 1
