"""The clients that a benchmark compares, each a process on the prober's core, and what their turns took."""

import http.client
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode

from exporter.model.target import Address
from tests.bench.turn import Taken, Turn, read_taken, write_line
from tests.servers.certificates import SERVER_NAME, Authority
from tests.servers.process import Server, find_program

PROBER_CORE, SERVER_CORE = 0, 1
_TLS_PHASE = re.compile(rb'^probe_http_duration_seconds\{phase="tls"\} (\S+)$', re.MULTILINE)
_SUCCESS = b"\nprobe_success 1\n"


class Client(Protocol):
    """Takes turns."""

    @property
    def pid(self) -> int:
        """Of the process whose processor time counts."""
        ...

    def take(self, turn: Turn) -> Taken:
        """Take one, from its beginning to its end."""
        ...


class Child:
    """A client of our own, told and answering by lines of JSON."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def take(self, turn: Turn) -> Taken:
        """Let it take a turn; raises RuntimeError where it ends over it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(write_line(turn))
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the client ended in the middle of its turn; its error is above")
        return read_taken(line)


@contextmanager
def child(module: str, address: Address, authority: Authority) -> Iterator[Child]:
    """Run one of our own clients, warmed up."""
    words = [sys.executable, "-m", f"tests.bench.{module}", address.host, str(address.port), str(authority.file)]
    command = [find_program("taskset"), "-c", str(PROBER_CORE), *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            client = Child(process)
            client.take(Turn(50, http=True))
            yield client
        finally:
            process.terminate()


class Blackbox:
    """blackbox_exporter, asked over HTTP for a probe at a time, as Prometheus asks it."""

    def __init__(self, server: Server, target: Address) -> None:
        self._server = server
        self._path = "/probe?" + urlencode({"module": "https", "target": f"https://{target}/"})

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._server.pid

    def take(self, turn: Turn) -> Taken:
        """Ask for probes; raises RuntimeError where one fails."""
        asking = http.client.HTTPConnection(self._server.address.host, self._server.address.port, timeout=10)
        durations = []
        began = processor_seconds(self.pid)
        for pause, due in turn.waits(random.Random(1), time.monotonic()):  # noqa: S311 - no secret hangs on a pause
            time.sleep(max(pause, due - time.monotonic(), 0.0))
            asking.request("GET", self._path)
            answer = asking.getresponse().read()
            phase = _TLS_PHASE.search(answer)
            if phase is None or _SUCCESS not in answer:
                raise RuntimeError(f"the probe failed:\n{answer.decode()}")
            durations.append(float(phase[1]))
        cpu = processor_seconds(self.pid) - began
        asking.close()
        return Taken(tuple(durations), (), cpu)


@contextmanager
def blackbox(folder: Path, address: Address, target: Address, authority: Authority) -> Iterator[Blackbox]:
    """Run blackbox_exporter at `address`, warmed up, for probes of `target`."""
    folder.mkdir()
    config = folder / "blackbox.yml"
    config.write_text(f"""\
modules:
  https:
    prober: http
    timeout: 5s
    http:
      preferred_ip_protocol: ip4
      fail_if_not_ssl: true
      tls_config: {{ca_file: {authority.file}, server_name: {SERVER_NAME}, min_version: TLS13}}
""")
    program = find_program("prometheus-blackbox-exporter")
    words = (program, f"--config.file={config}", f"--web.listen-address={address}")
    with Server(address, (find_program("taskset"), "-c", str(PROBER_CORE), *words), folder) as server:
        client = Blackbox(server, target)
        client.take(Turn(50))
        yield client


def processor_seconds(pid: int) -> float:
    """Return what all threads of a process have used so far, those that ended too."""
    # clock_getcpuclockid() makes its number so, and Python has it for threads alone.
    return time.clock_gettime((~pid << 3) | 2)
