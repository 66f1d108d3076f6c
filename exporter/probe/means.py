"""What a round needs from outside: connections, clocks and chance."""

from collections.abc import Callable
from dataclasses import dataclass

from exporter.probe.dial import Dial


@dataclass(frozen=True, slots=True)
class Means:
    """All that is not decided by what was seen.

    Attributes:
        monotonic, unix: clocks, in seconds.
        chance: gives a number from 0 up to 1 at each call.
    """

    dial: Dial
    monotonic: Callable[[], float]
    unix: Callable[[], float]
    chance: Callable[[], float]
