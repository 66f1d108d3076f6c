"""One server process: started in a folder of its own, waited for, and ended by its own handle."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from exporter.model.target import Address

START_SECONDS = 20.0
STOP_SECONDS = 5.0
_PAUSE_SECONDS = 0.005
_LOG_TAIL_CHARACTERS = 4000
_PLACES = (str(Path(sys.executable).parent), "/usr/local/sbin", "/usr/sbin", "/sbin")


class MissingProgramError(LookupError):
    """A program that is not installed here."""


class ServerError(RuntimeError):
    """A server that did not do in time what it was asked for; the message ends with its log."""


def find_program(name: str) -> str:
    """Return the path of a program, also where an ordinary user's PATH does not look.

    A name with a slash is that of a file which a program needs, such as a module.

    Raises:
        MissingProgramError: it is in none of these places.
    """
    if "/" in name and Path(name).exists():
        return name
    path = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", os.defpath), *_PLACES)))
    if path is None:
        raise MissingProgramError(f"{name} is not installed")
    return path


class Server:
    """A server at one address, running from its making until stop().

    Its output goes to `server.log` in its folder. It ends with the thread that started it, also when that one is
    killed, so servers are started from the main thread.

    Raises:
        ServerError: it ended, or did not accept connections within START_SECONDS.
    """

    def __init__(self, address: Address, command: Sequence[str], folder: Path, children: int = 0) -> None:
        """Start it, and wait until it accepts connections and has as many workers as are expected."""
        self.address = address
        self.folder = folder
        self._command = tuple(command)
        self._expected_children = children
        self._process = self._launch()
        self._await_start()

    @property
    def pid(self) -> int:
        """The process that was started, which may have children of its own."""
        return self._process.pid

    @property
    def log(self) -> str:
        """All that the server has printed since it was first started."""
        file = self.folder / "server.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def restart(self) -> None:
        """Stop, and start again with the same command: whatever the server kept in memory is gone.

        Raises:
            ServerError: as when it is made.
        """
        self.stop()
        self._process = self._launch()
        self._await_start()

    def stop(self) -> None:
        """End the process, by force after STOP_SECONDS; does nothing where it has ended."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    @property
    def children(self) -> frozenset[int]:
        """Process ids of the workers, those that are about to end among them."""
        return frozenset(int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split())

    def replace_children(self, number: signal.Signals) -> None:
        """Send a signal that means "reload", and wait until there are new children and none of the old.

        Raises:
            ServerError: the old children stayed, or no new ones came.
        """
        old = self.children
        self._process.send_signal(number)
        self.wait_until(lambda: bool(self.children) and not old & self.children, "change of workers", seconds=10)

    def wait_until(self, condition: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
        """Ask again and again until the condition holds.

        Raises:
            ServerError: the process ended, or the time is up; `what` names the thing that was waited for.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            code = self._process.poll()
            if code is not None:
                raise ServerError(f"{self._name} ended with {code} before {what}:\n{self._log_tail}")
            if time.monotonic() > deadline:
                raise ServerError(f"{self._name}: no {what} within {seconds:g} s:\n{self._log_tail}")
            time.sleep(_PAUSE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _launch(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        with (self.folder / "server.log").open("ab") as log:
            return subprocess.Popen(
                (find_program("setpriv"), "--pdeathsig", "TERM", "--", *self._command),
                cwd=self.folder,
                env=environment,
                stdin=subprocess.PIPE,  # kept open, since some servers take its end for their own
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that Ctrl-C in the terminal reaches the tests and not their servers
            )

    def _await_start(self) -> None:
        try:
            self.wait_until(lambda: _accepts(self.address), f"connection at {self.address}")
            # A master may listen before it has workers, and a signal in between would be lost on them.
            self.wait_until(lambda: len(self.children) >= self._expected_children, "workers")
        except BaseException:
            self.stop()
            raise

    @property
    def _name(self) -> str:
        return Path(self._command[0]).name

    @property
    def _log_tail(self) -> str:
        return self.log[-_LOG_TAIL_CHARACTERS:]


def _accepts(address: Address) -> bool:
    try:
        socket.create_connection((address.host, address.port), timeout=1).close()
    except OSError:
        return False
    return True
