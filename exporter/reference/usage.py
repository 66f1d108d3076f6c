"""What a listener's threads have used of the processor, and how many connections they are done with."""

import threading
import time


class Usage:
    """A thread's own clock counts nothing of its neighbours, and reading it from outside costs the thread nothing.

    Attributes:
        finished: connections that were closed; whoever changes it sees to it that nobody else does at that moment.
    """

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._clocks: dict[int, int] = {}
        self._retired = 0.0
        self.finished = 0

    def join(self) -> None:
        """Count the calling thread from now on."""
        me = threading.get_ident()
        with self._changing:
            self._clocks[me] = time.pthread_getcpuclockid(me)

    def leave(self) -> None:
        """Keep what the calling thread has used, as it is about to end."""
        with self._changing:
            self._retired += time.thread_time()
            del self._clocks[threading.get_ident()]

    def read(self) -> tuple[float, int]:
        """Return the processor seconds of all threads so far, and the finished connections, which all are in them."""
        finished = self.finished
        with self._changing:  # or a thread might end, and its clock with it, while we look
            return self._retired + sum(map(time.clock_gettime, self._clocks.values())), finished
