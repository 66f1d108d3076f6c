"""How soon the event loop gets its turn while a thread is at work."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TURN = 0.001
"""Seconds after which a thread that computes is asked to let others go on.

The loop gives its turn away with each call of the system, for an answer's send as for waiting, and gets it back after
as long as this: at the usual 5 ms, a request that arrives while an exposition is made waits three or four times that.
The handshakes that are being timed gain by it, too.
"""


@contextmanager
def short_turns() -> Iterator[None]:
    """Let all threads of the process have shorter turns for as long as the block lasts."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
