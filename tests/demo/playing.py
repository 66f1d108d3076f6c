"""`tlsprobe demo` as a process of its own, whose story can be held."""

import os
import re
import select
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.daemon import TLSPROBE

_URL = re.compile(r"(http://127\.0\.0\.1:\d+)/targets/shop")


@dataclass
class Demo:
    """A running demonstration.

    Attributes:
        told: what it has said so far.
    """

    process: "subprocess.Popen[bytes]"
    told: str = ""

    def read_until(self, words: str, seconds: float = 60, *, after: str = "") -> None:
        """Read on until it has said something, after something else that it has said.

        Raises:
            AssertionError: it did not, or has ended.
        """
        if self.process.stdout is None:
            raise AssertionError("it has no output")
        deadline = time.monotonic() + seconds
        descriptor = self.process.stdout.fileno()
        while words not in self.told[self.told.index(after) :]:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(descriptor, 65536) if ready else b""
            if not data:
                raise AssertionError(f"it never said {words!r}:\n{self.told}")
            self.told += data.decode()

    @property
    def url(self) -> str:
        """Where the exporter's root is."""
        found = _URL.search(self.told)
        if found is None:
            raise AssertionError(f"no address was told:\n{self.told}")
        return found[1]

    def value(self, name: str, **labels: str) -> float:
        """Return the sum of the exporter's samples of this name that have these labels."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=10) as answer:  # noqa: S310 -- it is http:
            families = list(text_string_to_metric_families(answer.read().decode()))
        samples = [sample for family in families for sample in family.samples]
        return sum(one.value for one in samples if one.name == name and labels.items() <= one.labels.items())

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the story, while the fleet and its exporter go on."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


@contextmanager
def playing(speed: float, folder: Path | None = None) -> Iterator[Demo]:
    """Play the story on a free port, started in this folder or ours, and end it with the block."""
    words = ("demo", "--port", "0", "--speed", str(speed))
    process = subprocess.Popen(
        ["env", "--default-signal=INT", *TLSPROBE, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        yield Demo(process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        finally:
            if process.poll() is None:
                process.kill()
            if process.stdout is not None:
                process.stdout.close()
