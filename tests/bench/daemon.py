"""The daemon as a benchmark sees it: started with a config, read through /proc and its metrics page."""

import os
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from exporter.model.target import Address
from tests.bench.client import PROBER_CORE
from tests.servers.process import Server, find_program

_PAUSE = 0.05


class Daemon:
    """A running `tlsprobe run`."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @property
    def pid(self) -> int:
        """Of the parent."""
        return self._server.pid

    def metrics(self) -> str:
        """Scrape once."""
        with urllib.request.urlopen(f"http://{self._server.address}/metrics", timeout=10) as answer:
            return bytes(answer.read()).decode()

    def wait_until(self, condition: Callable[[], bool], what: str, seconds: float) -> None:
        """Wait; raises ServerError, with the daemon's log, when it ended or the time is up."""

        def look() -> bool:
            time.sleep(_PAUSE)
            return condition()

        self._server.wait_until(look, what, seconds)

    @property
    def children(self) -> frozenset[int]:
        """Process ids of its children."""
        return self._server.children


@contextmanager
def daemon(folder: Path, address: Address, config: str | None = None) -> Iterator[Daemon]:
    """Run the daemon at `address`; `config` is what its config file holds, without which it probes the reference."""
    folder.mkdir()
    words = ["run", f"--web.listen-address={address}"]
    if config is not None:
        path = folder / "config.yaml"
        path.write_text(config)
        words.append(f"--config={path}")
    pinned = (find_program("taskset"), "-c", str(PROBER_CORE))
    command = (*pinned, str(Path(sys.executable).with_name("tlsprobe")), *words)
    with Server(address, command, folder) as server:
        yield Daemon(server)


def resident_bytes(pid: int) -> int:
    """Return VmRSS of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


def open_files(pid: int) -> int:
    """Return how many file descriptors a process holds at this moment."""
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - a Path for each entry would be no use


def counter(metrics: str, series: str) -> float:
    """Return a series' value by its name and labels as the page has them; 0 where it is absent."""
    values = [line.rpartition(" ")[2] for line in metrics.splitlines() if line.rpartition(" ")[0] == series]
    return float(values[0]) if values else 0.0
