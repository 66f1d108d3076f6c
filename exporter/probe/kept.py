"""Sessions that can be offered later."""

from dataclasses import dataclass, replace

from exporter.model.target import Address
from exporter.wire.tls import Session

_UNSPECIFIED = 7200.0  # seconds for which a ticket without a hint is taken to be good


@dataclass(slots=True, eq=False)
class Kept:
    """A session, and where and when it was got.

    Attributes:
        received: by the monotonic clock, in seconds.
        offered: how often it was offered; some servers accept each but once.
    """

    session: Session
    issuer: Address
    received: float
    offered: int = 0

    @property
    def hint(self) -> int:
        """The lifetime in seconds that its server promised; 0 for none."""
        ticket = self.session.ticket
        return self.session.handle.ticket_lifetime_hint if ticket is None else ticket.lifetime

    def lives(self, now: float) -> bool:
        """Say whether it is within its promised life: OpenSSL leaves an older TLS 1.3 ticket out without a word."""
        return now - self.received < (self.hint or _UNSPECIFIED)

    def copy(self) -> "Kept":
        """Return the same session as one that was not offered through this object yet."""
        return replace(self)
