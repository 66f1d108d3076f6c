"""`tlsprobe demo` as a process of its own, whose pages are turned by hand."""

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
_TURN = "Enter: what happens next"


@dataclass
class Demo:
    """A running demonstration.

    Attributes:
        told: what it has said so far.
    """

    process: "subprocess.Popen[bytes]"
    told: str = ""

    def read_until(self, words: str, seconds: float = 60, *, times: int = 1) -> None:
        """Read on until it has said something, so many times in all.

        Raises:
            AssertionError: it did not, or has ended.
        """
        if self.process.stdout is None:
            raise AssertionError("it has no output")
        deadline = time.monotonic() + seconds
        descriptor = self.process.stdout.fileno()
        while self.told.count(words) < times:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(descriptor, 65536) if ready else b""
            if not data:
                raise AssertionError(f"it never said {words!r}:\n{self.told}")
            self.told += data.decode()

    def next_page(self) -> str:
        """Turn the page, but for the first one, and return what it says."""
        if self.process.stdin is None:
            raise AssertionError("it has no input")
        turned = self.told.count(_TURN)
        if turned:
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()
        self.read_until(_TURN, times=turned + 1)
        return self.told.split(_TURN)[turned]

    def end_of_input(self) -> None:
        """Leave nobody to turn pages, so that the story runs on."""
        if self.process.stdin is not None:
            self.process.stdin.close()

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
def playing(*options: str, folder: Path | None = None) -> Iterator[Demo]:
    """Play the story on a free port, started in this folder or ours, and end it with the block."""
    process = subprocess.Popen(
        ["env", "--default-signal=INT", *TLSPROBE, "demo", "--port", "0", *options],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
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
            for end in (process.stdin, process.stdout):
                if end is not None:
                    end.close()
