"""What a listener's threads have used of the processor, and how many connections they are done with."""

import threading
import time


class Usage:
    """A thread's own clock counts nothing of its neighbours, and reading it from outside costs the thread nothing."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._clocks: dict[int, int] = {}
        self._retired = 0.0
        self._finished = 0

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

    def finish(self) -> None:
        """Count a connection that was closed."""
        with self._changing:
            self._finished += 1

    def read(self) -> tuple[float, int]:
        """Return the processor seconds of all threads so far, and the connections that were closed."""
        with self._changing:  # or a thread might end, and its clock with it, while we look
            used = sum(time.clock_gettime(clock) for clock in self._clocks.values())
            return self._retired + used, self._finished
