"""The load generator beside `openssl s_time`, and against a server whose limit is known."""

import os
import socket
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from exporter.load.capacity import Plan, measure_closed, measure_open
from exporter.load.crew import Crew, cores, hire
from exporter.load.orders import Site as Where
from exporter.load.search import Search
from exporter.load.step import Step, Strain
from exporter.model.observation import Mode
from exporter.model.target import Address, TlsVersion
from tests.bench.client import PROBER_CORE, SERVER_CORE
from tests.bench.site import Site
from tests.bench.table import Table
from tests.load import peers
from tests.servers.certificates import SERVER_NAME
from tests.servers.process import find_program

_ROUNDS = 9
_SECONDS = 2.0
_CLIENTS = 16
_WORKERS_A_CORE = 2  # of both; s_time has one connection under way at a time, and would leave a core idle by itself
_LIMIT = 100.0
_GOAL, _LIMIT_GOAL = 0.9, 0.05


@dataclass(frozen=True, slots=True)
class _Contest:
    """What both are to do.

    Attributes:
        words: for s_time, beside the address and the time.
    """

    title: str
    mode: Mode
    version: TlsVersion
    path: str | None
    words: tuple[str, ...]


_CONTESTS = (
    _Contest("full, TLS 1.3", Mode.FULL, TlsVersion.TLS13, None, ("-new",)),
    _Contest("full, TLS 1.2", Mode.FULL, TlsVersion.TLS12, None, ("-new", "-tls1_2")),
    _Contest("resumed, TLS 1.2", Mode.RESUMED, TlsVersion.TLS12, None, ("-reuse", "-tls1_2")),
    # Without a request s_time never reads its TLS 1.3 tickets, and makes full handshakes under the name of reuse.
    _Contest("resumed and a request, TLS 1.3", Mode.RESUMED, TlsVersion.TLS13, "/", ("-reuse", "-www", "/")),
)


def measure(site: Site) -> Table:
    """Let both take turns at nginx on the same cores, then look for a limit that is known."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {PROBER_CORE, SERVER_CORE})
    try:
        found = [_compete(site, contest) for contest in _CONTESTS]
        limit = _find_limit(site)
    finally:
        os.sched_setaffinity(0, before)
    rows = [row for row, _ in found]
    rows.append((f"a server that admits {_LIMIT:.0f} a second, by an open loop", f"{limit:.1f}", "-", "-", "-"))
    goals = [
        (f"{contest.title}: at least {_GOAL} times s_time", met)
        for contest, (_, met) in zip(_CONTESTS, found, strict=True)
    ]
    goals.append((f"the limit within {_LIMIT_GOAL * 100:.0f} %", abs(limit / _LIMIT - 1) <= _LIMIT_GOAL))
    return Table(
        "Load generator",
        f"Handshakes a second against one nginx worker, which shares its two cores with them: `tlsprobe capacity` with "
        f"{_CLIENTS} clients, and `openssl s_time`, both in {_WORKERS_A_CORE} processes a core; medians of {_ROUNDS} "
        f"alternating turns of {_SECONDS:g} s, with the range of the turns' ratios. The time in which s_time starts "
        "counts against it, about 1 %.",
        ("", "ours", "s_time", "ratio", "resumed, by the library's own word"),
        tuple(rows),
        tuple(goals),
    )


def _compete(site: Site, contest: _Contest) -> tuple[tuple[str, ...], bool]:
    where = Where(site.address.host, site.address.port, SERVER_NAME, contest.version, contest.path, timeout=30.0)
    ours, theirs, told = [], [], []
    with hire(where, _WORKERS_A_CORE * cores()) as crew:
        for _ in range(_ROUNDS):
            step = _closed(crew, contest.mode)
            ours.append(step.done)
            told.append((step.resumed, step.completed))
            theirs.append(_s_time(site.address, contest))
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    ratio = statistics.median(ratios)
    resumed, completed = (sum(column) for column in zip(*told, strict=True))
    row = (
        contest.title,
        f"{statistics.median(ours):.0f}",
        f"{statistics.median(theirs):.0f}",
        f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        f"{resumed} of {completed}",
    )
    return row, ratio >= _GOAL and resumed == (completed if contest.mode is Mode.RESUMED else 0)


def _closed(crew: Crew, mode: Mode) -> Step:
    found = measure_closed(crew.carry_out, mode, _CLIENTS, Plan(_SECONDS, 1e6), _unheard)
    return found.steps[0][0]


def _s_time(address: Address, contest: _Contest) -> float:
    """Return how many handshakes a second all of its workers made; of reuse those that were resumed."""
    command = [find_program("openssl"), "s_time", "-connect", str(address), "-time", f"{_SECONDS:.0f}", *contest.words]
    began = time.monotonic()
    workers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(_WORKERS_A_CORE * cores())
    ]
    outputs = [worker.communicate(timeout=60)[0] for worker in workers]
    # It reads a clock of whole seconds, so that 2 s are up to 3, and its own figure of them is wrong by as much.
    return sum(map(_counter(contest), outputs)) / (time.monotonic() - began)


def _counter(contest: _Contest) -> Callable[[bytes], int]:
    mark = b"r" if contest.mode is Mode.RESUMED else b"*"

    def count(output: bytes) -> int:
        """Count the marks that it prints for each connection: r for reused, * for new."""
        return sum(line.count(mark) for line in output.splitlines() if line and not line.strip(b"r*t"))

    return count


def _find_limit(site: Site) -> float:
    """Return what an open loop finds of a server that lets so many pass and hangs up on the others."""
    leaf = site.authority.issue("limited", now=datetime.now(UTC))
    admission, admitted = peers.Admission(_LIMIT), peers.answer(leaf, "200 OK")

    def behave(accepted: socket.socket) -> None:
        if admission.admit():
            admitted(accepted)

    with (
        peers.listen(behave) as address,
        hire(Where(address.host, address.port, SERVER_NAME, TlsVersion.TLS12), 1) as crew,
    ):
        found = measure_open(
            crew.carry_out, Mode.FULL, Search(40.0, 1e4, 0.03), Plan(3.0, 1e4, p99_limit=1.0), _unheard
        )
    return found.rate or 0.0


def _unheard(_step: Step, _why: Strain | None) -> None:
    """Tell nobody."""
