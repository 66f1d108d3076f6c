"""What a connection is made for, beyond its handshake."""

import math
from dataclasses import dataclass

from exporter.model.connections import HelloSplit


@dataclass(frozen=True, slots=True)
class Errand:
    """What to do on one connection.

    Attributes:
        http: whether to send the target's request once the tickets are there.
        keep: how many sessions are wanted at the most.
        requests: how many requests in a row are wanted, the first included.
        large: whether the larger body is asked for at the end of them.
        within: seconds from the dial's beginning in which the requests behind the first must be over; they are given up
            where they are not.
        cut: how the ClientHello is cut in two; the times are worth nothing then.
    """

    http: bool = False
    keep: int = 0
    requests: int = 1
    large: bool = False
    within: float = math.inf
    cut: HelloSplit | None = None


PLAIN = Errand()
"""Nothing but a handshake."""
