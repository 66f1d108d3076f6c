"""Fifty reloads in a minute under two hundred targets: what does an unchanged target notice, and what is left over?"""

import os
import re
import signal
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tests.bench.daemon import Daemon, daemon, resident_bytes
from tests.bench.site import Site
from tests.bench.soak import fewest_files
from tests.bench.table import Table
from tests.servers.certificates import SERVER_NAME

_STEADY, _RELOADS = 200, 50
_INTERVAL = 10.0
_PAUSE = 1.2  # seconds from one reload to the next
_LOOK = 5  # reloads from one scrape to the next: two hundred targets are eighty thousand lines
_PATIENCE = 60.0
_MIB = 1 << 20
_COUNTER = re.compile(r'tlsprobe_[a-z_]+_(?:total|count|sum|bucket)\{.*target="steady-')
_TICKS = re.compile(r'tlsprobe_round(?:s|_overruns)_total\{target="(steady-[0-9]+)"\}')

Series = Mapping[str, float]


def measure(site: Site) -> Table:
    """Let targets come, go, alter and begin anew beside others that stay as they are."""
    folder = site.folder / "daemon"
    with daemon(folder, site.free_address(), _config(site)) as running:
        time.sleep(2 * _INTERVAL)
        running.wait_until(lambda: min(_ticks(_read(running)).values(), default=0) >= 2, "two rounds of all", _PATIENCE)
        files, threads, resident = fewest_files(running.pid), _threads(running.pid), resident_bytes(running.pid)
        began, first = time.monotonic(), _read(running)
        falls, before = 0, first
        for number in range(_RELOADS):
            due = began + (number + 1) * _PAUSE
            _reload(running, folder / "config.yaml", _config(site, number))
            running.wait_until(partial(_has_begun, folder, number), f"reload {number}", _PATIENCE)
            time.sleep(max(0.0, due - time.monotonic()))
            if number % _LOOK == _LOOK - 1:
                after = _read(running)
                falls += sum(after.get(key, -1.0) < value for key, value in before.items() if _COUNTER.match(key))
                before = after
        took = time.monotonic() - began
        _reload(running, folder / "config.yaml", _config(site))
        running.wait_until(lambda: "new-" not in running.metrics(), "end of the passing targets", _PATIENCE)
        time.sleep(_INTERVAL)  # rounds under way end, and ticks that were late are counted
        passed, last = time.monotonic() - began, _ticks(_read(running))
        lost = sum(last[name] - then < passed // _INTERVAL - 1 for name, then in _ticks(first).items())
        last_files, last_threads = fewest_files(running.pid), _threads(running.pid)
        taken = sum(_has_begun(folder, number) for number in range(_RELOADS))
        growth = (resident_bytes(running.pid) - resident) / _MIB
    return Table(
        "Fifty reloads in a minute",
        f"One daemon with {_STEADY} targets on one nginx, TLS 1.2 and 1.3, an interval of {_INTERVAL:g} s. Each reload "
        "brings a new target, takes the one before away, and changes four others: labels and interval, the request, "
        f"trust, and the name. {taken} reloads took {took:.0f} s. A tick is lost if it neither had a round nor is "
        "counted as one that went by during a round.",
        ("", "before", "after"),
        (
            ("file descriptors", str(files), str(last_files)),
            ("threads", str(threads), str(last_threads)),
            ("VmRSS MiB", f"{resident / _MIB:.1f}", f"{resident / _MIB + growth:.1f}"),
        ),
        (
            (f"reloads taken up: {taken} of {_RELOADS}", taken == _RELOADS),
            (f"counters of unchanged targets that went back: {falls}, none allowed", falls == 0),
            (f"unchanged targets that lost a tick: {lost}, none allowed", lost == 0),
            (f"file descriptors: {last_files - files} more at the end, none allowed", last_files <= files),
            (f"threads: {last_threads - threads} more at the end, none allowed", last_threads <= threads),
        ),
    )


def _has_begun(folder: Path, number: int) -> bool:
    return re.search(rf"begun=\S*new-{number}\b", (folder / "server.log").read_text()) is not None


def _reload(running: Daemon, file: Path, config: str) -> None:
    file.write_text(config)
    os.kill(running.pid, signal.SIGHUP)


def _read(running: Daemon) -> Series:
    lines = (line.rpartition(" ") for line in running.metrics().splitlines() if not line.startswith("#"))
    return {series: float(value) for series, _, value in lines}


def _ticks(found: Series) -> dict[str, float]:
    """Return for each steady target how many ticks had a round, or were told to have gone by."""
    ticks: dict[str, float] = {}
    for series, value in found.items():
        if match := _TICKS.fullmatch(series):
            ticks[match[1]] = ticks.get(match[1], 0.0) + value
    return ticks


def _threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def _config(site: Site, number: int | None = None) -> str:
    """Return a configuration: the steady targets, and in reload `number` those that pass beside them."""
    lines = [_target(site, f"steady-{steady}", "probe: {idle: 'off'}") for steady in range(_STEADY)]
    if number is not None:
        lines += [
            _target(site, f"new-{number}"),
            _target(site, "altered", f"labels: {{number: '{number}'}}, interval: {5 + number % 2}s"),
            _target(site, "asking", f"http: {{path: /{number}}}"),
            _target(site, "trusting", f"tls: {{verify: {str(number % 2 > 0).lower()}}}", trust=False),
            _target(site, "moved", host=f"{number}.{SERVER_NAME}"),
        ]
    return "defaults: {interval: 10s}\nreference: {enabled: false}\ntargets:\n" + "".join(lines)


def _target(site: Site, name: str, more: str = "", host: str = SERVER_NAME, *, trust: bool = True) -> str:
    tls = f"tls: {{ca_file: {site.authority.file}}}" if trust else ""
    parts = [f"name: {name}", f"address: '{host}:{site.address.port}'", f"backends: ['{site.address}']", tls, more]
    return f"  - {{{', '.join(filter(None, parts))}}}\n"
