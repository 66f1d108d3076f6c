"""`tlsprobe demo`: a fleet on loopback, an exporter that watches it, and a story to look at."""

import contextlib
import functools
import signal
import socket
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from exporter.demo import exhibit, fleet
from exporter.demo.play import MARGIN, Stage, play
from exporter.demo.story import FIRST_KEY, LENGTH, STORY, pace_of
from exporter.model.target import Address
from exporter.reference.certificates import make_credentials
from exporter.reference.ports import reserve

SEEN, NOT_SEEN, NOT_STARTED = 0, 1, 2
_HOST = "127.0.0.1"
_ENDS = (signal.SIGTERM, signal.SIGHUP)


def demo(words: Namespace) -> int:
    """Play the story and return the exit code: 0 all was seen, 1 something was not, 2 it could not begin."""
    try:
        with _orderly_ends(), contextlib.ExitStack() as stack:
            return _play(words, stack)
    except BrokenPipeError:
        raise  # who read the story has gone, as for any other command
    except OSError as error:
        print(f"tlsprobe demo: {error}", file=sys.stderr)
        return NOT_STARTED


@contextlib.contextmanager
def _orderly_ends() -> Iterator[None]:
    """Let what would end us at once, as a closed terminal does, end all that we have started first."""
    before = {number: signal.signal(number, _end) for number in _ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


def _free(port: int) -> Address:
    """Return the address of a port; raise OSError with what to do where somebody listens there."""
    with contextlib.closing(socket.socket()) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((_HOST, port))
        except OSError as error:
            raise OSError(f"port {port} of {_HOST}: {error.strerror}; `--port 0` takes any free one") from error
    return Address(_HOST, port)


def _turn_page() -> None:
    """Wait for Enter, or for the end of the input."""
    print(f"{MARGIN}Enter: what happens next", flush=True)
    sys.stdin.readline()


def _play(words: Namespace, stack: contextlib.ExitStack) -> int:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tlsprobe-demo-")))
    pace = pace_of(words.speed)
    credentials = make_credentials(exhibit.SERVER_NAME)
    backends = stack.enter_context(fleet.start(credentials, FIRST_KEY))
    listen = _free(words.port) if words.port else reserve(stack)
    file = exhibit.write_configuration(folder, listen, backends.addresses, credentials.ca, pace)
    shown = stack.enter_context(exhibit.start(folder, file, listen))
    tell = functools.partial(print, flush=True)
    tell(f"Three backends at {', '.join(map(str, backends.addresses))}, and an exporter that watches them.")
    tell(f"\n  Open this and keep it open:  {shown.page}")
    tell(f"  Its metrics:                 {shown.url}/metrics")
    tell(f"  Its configuration:           {file}")
    tell(f"  Ask for yourself:            tlsprobe probe {exhibit.NAME} --config {file}")
    length = "goes on with each Enter" if words.step else f"takes {LENGTH / words.speed:.0f} seconds or a few more"
    tell(f"\nThe story {length}; Ctrl-C ends it.")
    addresses = tuple(map(str, backends.addresses))
    turn_page = _turn_page if words.step else None
    stage = Stage(addresses, backends.obey, shown.look, time.sleep, time.monotonic, tell, turn_page)
    code = SEEN if play(STORY, stage, pace) else NOT_SEEN
    if words.stay:
        tell("\nAll of it goes on as it is now, until Ctrl-C.")
        while True:
            time.sleep(3600)
    tell("\nThat was it. `tlsprobe demo --stay` keeps the page at the end." if code == SEEN else "")
    return code
