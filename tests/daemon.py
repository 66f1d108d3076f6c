"""`tlsprobe run` as a process of its own, and what it serves."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

TLSPROBE = (sys.executable, "-P", "-c", "import sys; from exporter.cli import main; sys.exit(main())")


@dataclass
class Daemon:
    """A running exporter.

    Attributes:
        log: where its lines go.
    """

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    def get(self, path: str) -> tuple[int, str]:
        """Return status and body of a page."""
        url = f"http://127.0.0.1:{self.port}{path}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def samples(self) -> list[Sample]:
        """Return what is exported now."""
        text = self.get("/metrics")[1]
        return [sample for family in text_string_to_metric_families(text) for sample in family.samples]

    def value(self, name: str, **labels: str) -> float:
        """Return the sum of the samples of this name that have these labels."""
        return sum(one.value for one in self.samples() if one.name == name and labels.items() <= one.labels.items())

    def wait_until(self, condition: Callable[[], bool], what: str, seconds: float = 20) -> None:
        """Wait for a condition.

        Raises:
            AssertionError: it did not come true in time, or the process ended.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}:\n{self.log.read_text()}")
            if condition():
                return
            time.sleep(0.05)
        raise AssertionError(f"no {what} within {seconds} s:\n{self.log.read_text()}")

    @property
    def children(self) -> list[int]:
        """Process ids of its children."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(child) for task in tasks for child in task.read_text().split()]

    def end(self, number: int = signal.SIGTERM) -> float:
        """Signal it, and return the seconds that it took to end."""
        began = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(10)
        return time.monotonic() - began


@contextmanager
def running(
    folder: Path,
    words: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    output: int | None = None,
    ahead: Sequence[str] = (),
) -> Iterator[Daemon]:
    """Run the exporter on a free port until the block ends, its log in a file or in the descriptor `output`.

    Args:
        ahead: a command that ends in becoming the one whose words follow its own.
    """
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
    log = folder / "tlsprobe.log"
    command = [*ahead, *TLSPROBE, "run", "--web.listen-address", f"127.0.0.1:{port}", *words]
    with log.open("wb") as file:
        stream = file.fileno() if output is None else output
        process = subprocess.Popen(command, stderr=stream, stdout=stream, env={**os.environ, **(environment or {})})
    daemon = Daemon(process, port, log)
    try:
        daemon.wait_until(lambda: _accepts(port), "listener")
        yield daemon
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
