"""What a round needs from outside: connections, clocks and chance."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from exporter.model.connections import Staple
from exporter.model.failure import Failure
from exporter.model.target import Address, Target, TlsVersion
from exporter.probe.dial import Dial
from exporter.probe.held import Held

AskStaple = Callable[[Target, Address, TlsVersion], Awaitable[Staple | Failure]]
Hold = Callable[[Target, Address, TlsVersion], Awaitable[Held | Failure]]


@dataclass(frozen=True, slots=True)
class Means:
    """All that is not decided by what was seen.

    Attributes:
        monotonic, unix: clocks, in seconds.
        chance: gives a number from 0 up to 1 at each call.
        ask_staple: asks for a stapled OCSP answer; None where nobody is to be asked.
    """

    dial: Dial
    monotonic: Callable[[], float]
    unix: Callable[[], float]
    chance: Callable[[], float]
    ask_staple: AskStaple | None = None
