"""Ten thousand handshakes in one daemon: no file descriptor stays open, and memory stays where it was."""

import time
import urllib.request

from tests.bench.client import processor_seconds
from tests.bench.daemon import daemon, open_files, resident_bytes
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.servers.certificates import SERVER_NAME

_TARGETS = 10
_FIRST, _ALL = 1_000, 10_000
_SECONDS = 600.0
_GROWTH_GOAL = 2.0
_MIB = 1 << 20
_LOOKS, _PAUSE = 400, 0.005


def measure(site: Site) -> Table:
    """Point many targets at one nginx, and count at the server."""
    with daemon(site.folder / "daemon", site.free_address(), _config(site)) as running:
        visits = Visits(site)
        running.wait_until(lambda: visits.count() >= _FIRST, f"{_FIRST} handshakes", _SECONDS)
        files, resident, cpu = fewest_files(running.pid), resident_bytes(running.pid), processor_seconds(running.pid)
        first = visits.count()
        running.wait_until(lambda: visits.count() >= _ALL, f"{_ALL} handshakes", _SECONDS)
        last_files, last_resident = fewest_files(running.pid), resident_bytes(running.pid)
        total = visits.count()
        last_cpu = processor_seconds(running.pid)
    each = (last_cpu - cpu) / (total - first)
    growth = (last_resident - resident) / _MIB
    return Table(
        "Ten thousand handshakes",
        f"One daemon with {_TARGETS} targets on one nginx, TLS 1.2 and 1.3, an interval of 1 s. Connections "
        f"are counted by nginx; file descriptors are the fewest of {_LOOKS} looks, since probes under way hold some. "
        f"Each connection cost {milliseconds(each)} ms of processor time, full ones with a request and resumed ones "
        "together, with resolving, verdicts and metrics.",
        ("handshakes", "file descriptors", "VmRSS MiB"),
        (
            (str(first), str(files), f"{resident / _MIB:.1f}"),
            (str(total), str(last_files), f"{last_resident / _MIB:.1f}"),
        ),
        (
            (f"file descriptors: {last_files - files} more at the end, none allowed", last_files <= files),
            (f"memory: {growth:.2f} MiB more, under {_GROWTH_GOAL:g} MiB", growth < _GROWTH_GOAL),
        ),
    )


class Visits:
    """Connections that nginx has handled, those with which it was asked for its counters taken off."""

    def __init__(self, site: Site) -> None:
        self._url = f"http://{site.status}/"
        self._asked = 0
        self._before = 0
        self._before = self.count()

    def count(self) -> int:
        """Ask once."""
        self._asked += 1
        with urllib.request.urlopen(self._url, timeout=10) as answer:  # noqa: S310 - the URL is our own
            handled = int(answer.read().splitlines()[2].split()[1])
        return handled - self._asked - self._before


def fewest_files(pid: int) -> int:
    """Look often and return the fewest file descriptors that were open at once."""
    fewest = open_files(pid)
    for _ in range(_LOOKS):
        time.sleep(_PAUSE)
        fewest = min(fewest, open_files(pid))
    return fewest


def _config(site: Site) -> str:
    targets = "".join(
        f"  - {{name: site-{number}, address: '{SERVER_NAME}:{site.address.port}', backends: ['{site.address}'], "
        f"tls: {{ca_file: {site.authority.file}}}, interval: 1s, timeout: 1s}}\n"
        for number in range(_TARGETS)
    )
    return f"reference: {{enabled: false}}\ntargets:\n{targets}"
