"""The reference servers beside nginx under the same client, and three runs of `tlsprobe bench` beside each other."""

import json
import os
import ssl
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from exporter.model.target import TlsVersion
from exporter.model.yardstick import GIB
from exporter.reference.certificates import make_credentials
from exporter.reference.lease import Lease, lend
from exporter.reference.listeners import SERVER_NAME, Listener
from exporter.yardstick.client import Client, Conversation
from exporter.yardstick.contexts import trust
from exporter.yardstick.place import Meter, Place
from tests.bench.client import PROBER_CORE, SERVER_CORE, processor_seconds
from tests.bench.site import Site
from tests.bench.table import Table, milliseconds
from tests.servers import nginx
from tests.servers.certificates import SERVER_NAME as SITE_NAME
from tests.servers.certificates import KeyType

_ROUNDS, _BATCH = 30, 20
_DOWNLOADS, _SIZE = 20, 32 << 20
_SETTLED = 0.003
"""Seconds after which nginx is done with a connection that its client has seen the end of."""
_HANDSHAKE_GOAL, _BULK_GOAL = 1.25, 1.5
_RUNS, _RUN_GOAL = 3, 0.15
_RSA_GOAL, _RSA_RESUMED_GOAL = 2.0, 0.5

_KEY_TYPES: Mapping[KeyType, Listener] = {"ecdsa": Listener.ECDSA, "rsa": Listener.RSA}

_Pairs = list[tuple[float, float]]


def measure_beside_nginx(site: Site) -> Table:
    """Compare the processor time of handshakes and of bytes; all servers on one core, the client on the other."""
    with ExitStack() as stack:
        theirs = {key_type: _start_nginx(stack, site, key_type) for key_type in _KEY_TYPES}
        credentials = make_credentials()
        lease = stack.enter_context(lend(credentials, (Listener.ECDSA, Listener.RSA)))
        context = trust(credentials.ca, TlsVersion.TLS13)
        ours = {key_type: _place(lease, listener, context) for key_type, listener in _KEY_TYPES.items()}
        os.sched_setaffinity(0, {PROBER_CORE})
        stack.callback(os.sched_setaffinity, 0, {SERVER_CORE})
        client = Client()
        full, rsa = (_compare_handshakes(client, ours[each], theirs[each]) for each in ("ecdsa", "rsa"))
        bulk = _compare_bytes(client, ours["ecdsa"], theirs["ecdsa"])
    rows = (
        _row("full ECDSA handshake, ms", full, milliseconds),
        _row("full RSA-2048 handshake, ms", rsa, milliseconds),
        _row("a GiB by AES-256-GCM, s", bulk, "{:.3f}".format),
    )
    return Table(
        "The reference beside nginx",
        "Processor time of the server under the same client, TLS 1.3, one ticket a handshake, nginx with one worker. "
        f"{_ROUNDS} alternating turns of {_BATCH} handshakes without a request, and {_DOWNLOADS} of {_SIZE >> 20} MiB; "
        "medians, and the median of the turns' ratios. nginx's time is that of its worker, ours that of the listener's "
        "threads.",
        ("what", "ours", "nginx", "ratio"),
        rows,
        (
            _goal("a full ECDSA handshake", _ratio(full), _HANDSHAKE_GOAL),
            _goal("a GiB", _ratio(bulk), _BULK_GOAL),
        ),
    )


def _place(lease: Lease, listener: Listener, context: ssl.SSLContext) -> Place:
    return Place(lease.addresses[listener], context, SERVER_NAME, lambda: lease.read_meter(listener))


def _start_nginx(stack: ExitStack, site: Site, key_type: KeyType) -> Place:
    folder = site.folder / f"nginx-{key_type}"
    folder.mkdir()
    (folder / "large").write_bytes(bytes(_SIZE))
    leaf = site.authority.issue(f"yardstick-{key_type}", now=datetime.now(UTC), key_type=key_type)
    # One ticket for each handshake, as ours.
    server = f"ssl_conf_command NumTickets 1; location = /large {{ root {folder}; }}"
    settings = nginx.Settings(leaf=leaf, server=server)
    running = stack.enter_context(nginx.start(folder, site.free_address(), settings))
    (worker,) = running.children
    os.sched_setaffinity(worker, {SERVER_CORE})
    context = trust(site.authority.file.read_text(), TlsVersion.TLS13)
    return Place(running.address, context, SITE_NAME, WorkerMeter(worker))


class WorkerMeter:
    """Reads a worker's clock once it can be taken to be done: it does not tell which connections it has closed."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._finished = 0

    def __call__(self) -> Meter:
        """Wait a little, and read."""
        time.sleep(_SETTLED)
        self._finished += _BATCH
        return Meter(processor_seconds(self._pid), self._finished)


def _compare_handshakes(client: Client, ours: Place, theirs: Place) -> _Pairs:
    """Return pairs of seconds a handshake; the first turn is for warming up."""
    pairs = [(_shake(client, ours), _shake(client, theirs)) for _ in range(_ROUNDS + 1)]
    return pairs[1:]


def _shake(client: Client, place: Place) -> float:
    before = place.read_meter()
    for _ in range(_BATCH):
        client.shake(place)
    return place.settle(before, _BATCH) / _BATCH


def _compare_bytes(client: Client, ours: Place, theirs: Place) -> _Pairs:
    with client.converse(ours) as one, client.converse(theirs) as other:
        pairs = [
            (_download(ours, one, b"/bytes/%d" % _SIZE), _download(theirs, other, b"/large"))
            for _ in range(_DOWNLOADS + 1)
        ]
    return pairs[1:]


def _download(place: Place, conversation: Conversation, path: bytes) -> float:
    before = place.read_meter()
    size = conversation.ask(path)
    return place.settle(before, 0) * GIB / size


def _ratio(pairs: _Pairs) -> float:
    return statistics.median(one / other for one, other in pairs)


def _row(what: str, pairs: _Pairs, render: Callable[[float], str]) -> tuple[str, ...]:
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return what, render(ours), render(theirs), f"{_ratio(pairs):.2f}"


def _goal(what: str, ratio: float, most: float) -> tuple[str, bool]:
    return f"{what} costs ours {ratio:.2f} times what it costs nginx, at most {most:g}", ratio <= most


def measure_runs(site: Site) -> Table:
    """Run `tlsprobe bench` three times and compare what it says."""
    os.sched_setaffinity(0, {PROBER_CORE, SERVER_CORE})
    reports = [_bench(site.folder) for _ in range(_RUNS)]
    os.sched_setaffinity(0, {SERVER_CORE})
    handshakes, rates = ([figures(report) for report in reports] for figures in (_handshake_ratios, _rate_ratios))
    away = max(_distance([run[name] for run in handshakes]) for name in handshakes[0])
    rsa = [run["rsa, full: CPU to ECDSA"] for run in handshakes]
    resumed = [run["rsa, resumed: CPU to full"] for run in handshakes]
    astray = sum(_astray(report) for report in reports)
    return Table(
        "Three runs of the bench",
        f"`tlsprobe bench --json`, {_RUNS} times one after another: the medians that it tells. Distance is the "
        "greatest from the median of the runs.",
        ("ratio", *(f"run {number + 1}" for number in range(_RUNS)), "distance"),
        tuple(_run_row(name, [run[name] for run in runs]) for runs in (handshakes, rates) for name in runs[0]),
        (
            (f"resumed as often as was asked, and never in the control: {astray} astray", astray == 0),
            (f"RSA full is {min(rsa):.2f} times ECDSA full or more, at least {_RSA_GOAL:g}", min(rsa) >= _RSA_GOAL),
            (
                f"RSA resumed is {max(resumed):.2f} of RSA full or less, at most {_RSA_RESUMED_GOAL:g}",
                max(resumed) <= _RSA_RESUMED_GOAL,
            ),
            (f"handshake ratios lie within {away:.0%} of their medians, at most {_RUN_GOAL:.0%}", away <= _RUN_GOAL),
            ("`openssl speed` is stated", all(report["speed"] for report in reports)),
        ),
    )


def _bench(folder: Path) -> Mapping[str, Any]:
    command = [str(Path(sys.executable).with_name("tlsprobe")), "bench", "--json"]
    done = subprocess.run(command, check=True, capture_output=True, cwd=folder, timeout=120)
    report: Mapping[str, Any] = json.loads(done.stdout)
    return report


def _handshake_ratios(report: Mapping[str, Any]) -> dict[str, float]:
    kinds = {"cpu_to_full": "CPU to full", "time_to_full": "time to full", "cpu_to_ecdsa": "CPU to ECDSA"}
    return {
        f"{row['role']}, {row['mode']}: {words}": row[field]["median"]
        for row in report["handshakes"]
        for field, words in kinds.items()
        if row[field] is not None
    }


def _rate_ratios(report: Mapping[str, Any]) -> dict[str, float]:
    speed = report["speed"]
    requests = {"requests, TLS to plain": report["requests"]["ratio"], "kept alive to new": report["reuse"]["ratio"]}
    bulk = {f"{row['cipher']}, rate to plain": row["rate_to_plain"] for row in report["bulk"] if row["rate_to_plain"]}
    costs = {
        f"{row['cipher']}, CPU to `openssl speed`": row["server_cpu_seconds_per_gib"]["median"] / speed
        for row in report["bulk"]
        if speed and "AES_256_GCM" in row["cipher"]
    }
    return {name: spread["median"] for name, spread in chain(requests.items(), bulk.items())} | costs


def _astray(report: Mapping[str, Any]) -> int:
    """Count handshakes that resumed and should not have, or the other way round."""
    due = [row["asked"] if row["mode"] == "resumed" and row["role"] != "control" else 0 for row in report["handshakes"]]
    return sum(abs(row["resumed"] - number) for row, number in zip(report["handshakes"], due, strict=True))


def _distance(figures: Sequence[float]) -> float:
    middle = statistics.median(figures)
    return max(abs(figure / middle - 1) for figure in figures)


def _run_row(name: str, figures: Sequence[float]) -> tuple[str, ...]:
    return name, *(f"{figure:.2f}" for figure in figures), f"{_distance(figures):.0%}"
