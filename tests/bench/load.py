"""Two ways to be starved: busy neighbours on the core, and being stopped."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.bench.client import PROBER_CORE

_LOOPS = 4
_MOST_SECONDS = 300
"""After which a loop ends by itself, should nobody be left to end it."""
_LOOP = f"import time\nend = time.monotonic() + {_MOST_SECONDS}\nwhile time.monotonic() < end: pass"
_STOPPED, _RUNNING = 0.090, 0.010


@contextmanager
def calm(_pid: int) -> Iterator[None]:
    """Leave the client alone."""
    yield


@contextmanager
def busy(_pid: int) -> Iterator[None]:
    """Run four endless loops on the prober's core."""
    loops = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(_LOOPS)]
    try:
        for loop in loops:
            os.sched_setaffinity(loop.pid, {PROBER_CORE})
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Stop the client for 90 ms of every 100, as a processor quota of a tenth does."""
    over = threading.Event()

    def play() -> None:
        while not over.wait(_RUNNING):
            os.kill(pid, signal.SIGSTOP)
            over.wait(_STOPPED)
            os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
