"""What one connection showed."""

from dataclasses import dataclass, field
from enum import StrEnum

from exporter.model.connections import HttpAnswer, Reuse
from exporter.model.failure import Failure
from exporter.model.target import Address, TlsVersion


class Mode(StrEnum):
    """How a handshake went: `refused` means that a ticket was offered and the server did a full one all the same."""

    FULL = "full"
    RESUMED = "resumed"
    REFUSED = "refused"


class Origin(StrEnum):
    """Where an offered ticket came from, seen from the backend that it is offered to."""

    SELF = "self"
    PEER = "peer"
    AGED = "aged"
    DEPARTED = "departed"


class TimingSource(StrEnum):
    """What a duration was taken from, the most truthful first."""

    KERNEL = "kernel"
    SCHEDSTAT = "schedstat"
    MONOTONIC = "monotonic"


@dataclass(frozen=True, slots=True)
class Ticket:
    """One NewSessionTicket (RFC 8446 section 4.6.1, RFC 5077 section 3.3).

    Attributes:
        identity: the ticket itself; a secret, so it is never shown, logged or exported.
        lifetime: seconds, the server's hint; 0 in TLS 1.2 says nothing.
        max_early_data: bytes of 0-RTT data offered; None without the extension, and always in TLS 1.2.
        nonce: the ticket nonce, empty in TLS 1.2.
    """

    identity: bytes = field(repr=False)
    lifetime: int
    max_early_data: int | None = None
    nonce: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Certificate:
    """Facts of the leaf that a server showed, and of the message that carried it.

    Attributes:
        fingerprint: SHA-256 of the leaf's DER form.
        key_type: such as `ecdsa-p256`, `rsa-2048`, `ed25519`.
        not_after, not_before: Unix time in seconds.
        chain_bytes: the certificates' DER sizes together.
        chain_count: how many certificates were sent.
        names: the first of them, such as fit into a page.
        name_count: how many subject alternative names there are.
        chain: SHA-256 over all that were sent; b"" where the chain was not seen.
    """

    fingerprint: bytes
    subject: str
    issuer: str
    key_type: str
    signature_algorithm: str
    not_before: float
    not_after: float
    names: tuple[str, ...]
    chain_bytes: int
    chain_count: int
    name_count: int = 0
    chain: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFacts:
    """All that the TLS engine saw of one finished handshake and of what came after it.

    Attributes:
        resumed: the library's own word for it (`session_reused`).
        offered: whether the ClientHello was seen to hold the session's ticket or id.
        offer_kind: what was offered: "ticket", "session_id" or "".
        session_id: whether a TLS 1.2 server gave a session id that it might resume from (RFC 5246 section 7.4.1.3).
        group: key exchange group by its IANA name, such as `x25519`; "" where none was seen.
        tickets: in the order in which they came, those after the handshake too.
        hello_bytes: size of the first ClientHello message.
        sent_bytes, received_bytes: on the wire until the handshake was done, record headers included.
        certificate_bytes: size of the Certificate message; 0 where none came or it could not be seen.
        certificate: of the leaf; None when the handshake was resumed.
        name_matches: whether the leaf holds the server name (RFC 9525); None when it was resumed or cannot be read.
        round_trips: flights of ours that the server had to answer before the handshake was done.
        extended_master_secret: whether the server agreed to it (RFC 7627); None in TLS 1.3, which has no need of it.
    """

    version: TlsVersion
    cipher: str
    group: str = ""
    alpn: str = ""
    resumed: bool = False
    offered: bool = False
    offer_kind: str = ""
    session_id: bool = False
    tickets: tuple[Ticket, ...] = ()
    hello_retry: bool = False
    hello_bytes: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    certificate_bytes: int = 0
    certificate: Certificate | None = None
    name_matches: bool | None = None
    round_trips: int = 0
    extended_master_secret: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long a handshake took, all in seconds.

    Attributes:
        duration: what a client that is never starved of processor time would have waited.
        server: the server's own part, None where no kernel stamp told.
        rtt: the path's shortest round trip, None where the kernel knew none.
        connect: the TCP handshake's round trip, None where the kernel knew none.
        wall: by the monotonic clock.
        run_delay: how long our thread was ready to run and did not, None where the system does not tell.
        disturbed: a retransmission, reordering, step of the clock or missing stamp touched the sample.
        server_disturbed: the same for the server's part alone.
        duration_bound, server_bound: the figure is an upper bound, since we read late and segments had been merged.
    """

    source: TimingSource
    duration: float
    wall: float
    server: float | None = None
    rtt: float | None = None
    connect: float | None = None
    run_delay: float | None = None
    disturbed: bool = False
    server_disturbed: bool = False
    duration_bound: bool = False
    server_bound: bool = False

    @property
    def starvation(self) -> float:
        """Seconds of the wall clock's time that were our own lateness."""
        return max(0.0, self.wall - self.duration)


@dataclass(frozen=True, slots=True)
class Handshake:
    """A TLS handshake that was completed, with the exchange that rode on it.

    Attributes:
        verify_failure: why the certificate was not acceptable; the facts were then taken without verification.
        http: the answer, why there was none, or None where no request was made.
        reuse: what came of further requests on the connection; None where none was meant to be made.
    """

    tls: TlsFacts
    timing: Timing
    verify_failure: Failure | None = None
    http: HttpAnswer | Failure | None = None
    reuse: Reuse | None = None

    @property
    def mode(self) -> Mode:
        """Which of the three kinds of handshake it was."""
        if self.tls.resumed:
            return Mode.RESUMED
        return Mode.REFUSED if self.tls.offered else Mode.FULL


@dataclass(frozen=True, slots=True)
class Offer:
    """A session that was shown to a backend.

    Attributes:
        issuer: the backend that issued it.
        age: seconds since it was received.
        ticket: the ticket whose session it is; None for a TLS 1.2 session id.
        fresh: it was issued in the same round.
    """

    issuer: Address
    origin: Origin
    age: float
    ticket: Ticket | None = None
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """One dial: who was asked, what was offered, what came back.

    Attributes:
        offer: None for a full handshake.
        outcome: a completed handshake, or why there was none.
        pair: number of the adjacent full-and-resumed pair that it belongs to, None for a single one.
        confirmed: of a failure after an offer: a handshake without it worked right after, so the offer killed it.
    """

    backend: Address
    version: TlsVersion
    offer: Offer | None
    outcome: Handshake | Failure
    pair: int | None = None
    confirmed: bool = False
