"""What the prober says of handshakes over a link and without it, beside what the link itself saw of them."""

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.model.observation import Timing
from exporter.model.target import TlsVersion
from tests.link.link import SERVER, Link
from tests.link.packets import Packet, TcpFlag, server_times
from tests.link.turn import Sample, Samples, Turn, Walk, read_line, write_line
from tests.servers.certificates import Leaf

_ROOT = Path(__file__).parents[2]
_CORES = sorted(os.sched_getaffinity(0))
_PROBER_CORE, _SERVER_CORE = _CORES[0], _CORES[-1]

_FAR = Walk({SERVER.v4: 0.000, SERVER.v6: 0.020}, seconds=4.0, pace=0.200)
_NEAR = Walk({SERVER.v4: 0.010, SERVER.v6: 0.030}, seconds=4.0, pace=0.040)
"""A flight over the link comes to the server 20, 60, 100 and 140 ms after the start, so no two are there at once.

The server is visited every 10 ms all the time: what it takes for a handshake depends on how long it was left alone.
"""
_AHEAD = 0.2
_LATE = 0.0003
"""Packets of one connection that crossed the link with delays further apart say that it disturbed the handshake."""
_WANTED, _MOST_TURNS = 12, 4

_LOOPS, _LOOP_SECONDS = 4, 60
_LOOP = f"import time\nend = time.monotonic() + {_LOOP_SECONDS}\nwhile time.monotonic() < end: pass"
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Visit:
    """One handshake over the link.

    Attributes:
        times: what the server truly took for each of its answers, in seconds.
    """

    sample: Sample
    times: tuple[float, ...]

    @property
    def timing(self) -> Timing:
        """What the prober said."""
        return self.sample.timing


@dataclass(frozen=True, slots=True)
class Measurement:
    """Full handshakes with one host in the same seconds, in which the server was equally busy.

    Attributes:
        far: over the link, without those that it disturbed.
        near: on the server's own side.
    """

    far: tuple[Visit, ...]
    near: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Probers:
    """A prober on each side of a link, on the same core."""

    link: Link
    far: subprocess.Popen[bytes]
    near: subprocess.Popen[bytes]


@contextlib.contextmanager
def serve(link: Link, port: int, folder: Path, leaf: Leaf, directives: str = "") -> Iterator[None]:
    """Run nginx on the link's far side."""
    files = (str(folder), str(leaf.certificate_file), str(leaf.key_file))
    words = [*files, str(_SERVER_CORE), directives, str(port), *SERVER]
    with _run([*link.server_command_prefix, sys.executable, "-m", "tests.link.site", *words]):
        yield


@contextlib.contextmanager
def probe(link: Link, ca_file: Path) -> Iterator[Probers]:
    """Run the probers."""
    command = [sys.executable, "-m", "tests.link.prober", str(ca_file), str(_PROBER_CORE)]
    with (
        _run([*link.client_command_prefix, *command]) as far,
        _run([*link.server_command_prefix, *command]) as near,
    ):
        yield Probers(link, far, near)


@contextlib.contextmanager
def starve() -> Iterator[None]:
    """Run four endless loops on the prober's core."""
    loops = [subprocess.Popen([sys.executable, "-c", _LOOP]) for _ in range(_LOOPS)]
    try:
        for loop in loops:
            os.sched_setaffinity(loop.pid, {_PROBER_CORE})
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measure(probers: Probers, port: int, version: TlsVersion) -> dict[str, Measurement]:
    """Shake hands with each host from both sides of the link, and again where the link disturbed too many."""
    far: dict[str, list[Visit]] = {host: [] for host in SERVER}
    near: dict[str, list[Sample]] = {host: [] for host in SERVER}
    for _ in range(_MOST_TURNS):
        before = len(probers.link.packets())
        begin = time.monotonic() + _AHEAD
        _tell(probers.far, Turn(version, port, begin, _FAR))
        _tell(probers.near, Turn(version, port, begin, _NEAR))
        over_link, at_home = _answer(probers.far), _answer(probers.near)
        packets = probers.link.packets()[before:]
        for host in SERVER:
            family = 6 if ":" in host else 4
            far[host] += _visits(over_link[host], [packet for packet in packets if packet.family == family])
            near[host] += at_home[host]
        if min(map(len, far.values())) >= _WANTED:
            return {host: Measurement(tuple(far[host]), tuple(near[host])) for host in SERVER}
    raise TimeoutError(f"the link was late in all but {[len(visits) for visits in far.values()]} handshakes")


def median(figures: Iterable[float | None]) -> float:
    """Return the median; raises AssertionError where a figure is missing."""
    known = []
    for figure in figures:
        assert figure is not None
        known.append(figure)
    return statistics.median(known)


def _visits(samples: Sequence[Sample], packets: Sequence[Packet]) -> Iterator[Visit]:
    """Put each handshake beside its packets: the connections began in the handshakes' order."""
    began = dict.fromkeys(packet.client_port for packet in packets if packet.to_server and packet.flags & TcpFlag.SYN)
    for sample, port in zip(samples, began, strict=True):
        own = [packet for packet in packets if packet.client_port == port]
        delays = [packet.put - packet.taken for packet in own]
        if max(delays) - min(delays) < _LATE:
            yield Visit(sample, server_times(own, port))


@contextlib.contextmanager
def _run(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that prints a line when it is ready and ends with its input; kill it where it does not."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT) as process:
        try:
            _read(process)
            yield process
        finally:
            try:
                process.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


def _read(process: subprocess.Popen[bytes]) -> bytes:
    line = process.stdout.readline() if process.stdout else b""
    assert line, f"{process.args!r} ended; it said why on stderr"
    return line


def _tell(process: subprocess.Popen[bytes], turn: Turn) -> None:
    assert process.stdin
    process.stdin.write(write_line(turn))
    process.stdin.flush()


def _answer(process: subprocess.Popen[bytes]) -> Samples:
    return read_line(_read(process), Samples)
