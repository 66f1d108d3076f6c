"""Who else computes on this machine: the kernel's count of all processors' time, less our own."""

import os
import time
from collections.abc import Callable
from pathlib import Path

_STAT = Path("/proc/stat")
_TICKS = os.sysconf("SC_CLK_TCK")
_BUSY = (0, 1, 2, 7)
"""Of the columns of proc(5): user, nice, system, steal. Not those of interrupts, most of which our own packets make."""


class Company:
    """Begins to watch when it is made.

    Args:
        used: tells the processor seconds of all that takes part so far.
        busy: tells those of all processors, None where that cannot be told.
        clock: seconds.
    """

    def __init__(
        self,
        used: Callable[[], float],
        busy: Callable[[], float | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._used, self._busy, self._clock = used, busy, clock
        self._began = clock(), used(), busy()

    def tell(self) -> float | None:
        """Return how many processors others kept busy meanwhile, such as 0.5; None where it cannot be told."""
        began, used, busy = self._began
        now, seconds = self._busy(), self._clock() - began
        if busy is None or now is None or seconds <= 0:
            return None
        return max(now - busy - (self._used() - used), 0.0) / seconds


def read_busy(file: Path = _STAT) -> float | None:
    """Return the seconds that all processors were busy so far, those that a hypervisor withheld with them."""
    try:
        name, *columns = file.read_text(encoding="ascii").partition("\n")[0].split()
        ticks = [int(column) for column in columns]
        return sum(ticks[at] for at in _BUSY) / _TICKS if name == "cpu" else None
    except (OSError, ValueError, IndexError):
        return None
