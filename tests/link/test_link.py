"""The link delays what it should, by what it should, and leaves nothing behind."""

import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.link.link import SERVER, Link, why_not
from tests.link.packets import server_times

MISSING = why_not()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

ROOT = Path(__file__).parents[2]
DELAY = 0.020
COUNT = 25
PAUSE = 0.005
OWNER = """
import sys
from tests.link.link import Link

with Link(0.001) as link:
    print(link.client_command_prefix[1], flush=True)
    sys.stdin.read()
"""


class Answers(NamedTuple):
    """What `tests.link.ask` prints."""

    port: int
    connect: float
    trips: list[float]
    min_rtt: float


@contextlib.contextmanager
def echo(link: Link, host: str, pause: float) -> Iterator[int]:
    """Run the echo server on the link's far side and give its port."""
    command = [*link.server_command_prefix, sys.executable, "-m", "tests.link.echo", host, str(pause)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout
        try:
            yield int(server.stdout.readline())
        finally:
            server.communicate(timeout=10)


def ask(link: Link, host: str, port: int) -> Answers:
    """Ask from the link's near side."""
    command = [*link.client_command_prefix, sys.executable, "-m", "tests.link.ask", host, str(port), str(COUNT)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT, timeout=30)
    return Answers(**json.loads(done.stdout))


@pytest.mark.parametrize("host", [pytest.param(SERVER.v4, id="IPv4"), pytest.param(SERVER.v6, id="IPv6")])
def test_delay(host: str) -> None:
    """A round trip takes twice the delay, and even on a busy machine packets are hardly late."""
    with Link(delay_seconds=DELAY) as link, echo(link, host, 0.0) as port:
        answers = ask(link, host, port)
        packets = [packet for packet in link.packets() if packet.client_port == answers.port]

    assert 2 * DELAY < answers.connect < 2 * DELAY + 0.010
    assert 2 * DELAY < answers.min_rtt < 2 * DELAY + 0.0005
    assert 2 * DELAY < min(answers.trips) < 2 * DELAY + 0.005
    late = [packet.put - packet.taken - DELAY for packet in packets]
    assert min(late) >= -1e-7
    assert statistics.quantiles(late, n=10)[-1] < 0.0005
    assert {4 if host == SERVER.v4 else 6} == {packet.family for packet in packets}


def test_server_time() -> None:
    """The log tells what the server itself took, whatever the delay."""
    with Link(delay_seconds=DELAY) as link, echo(link, SERVER.v4, PAUSE) as port:
        answers = ask(link, SERVER.v4, port)
        times = server_times(link.packets(), answers.port)

    assert len(times) == COUNT
    assert min(times) > PAUSE
    trips = [trip - took for trip, took in zip(answers.trips, times, strict=True)]
    assert 2 * DELAY < min(trips) < 2 * DELAY + 0.002


def test_nothing_is_left() -> None:
    """Leaving the link, also by an error, ends the forwarder and with it both namespaces."""
    sides = []

    def fail() -> None:
        with Link(delay_seconds=0.001) as link:
            sides.append(Path(link.client_command_prefix[1].removeprefix("--net=")))
            assert sides[0].exists()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not sides[0].exists()


def test_killed_owner() -> None:
    """The forwarder ends with the process that made it, also if that is killed outright."""
    command = [sys.executable, "-c", OWNER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as owner:
        assert owner.stdout
        side = Path(owner.stdout.readline().strip().removeprefix("--net="))
        assert side.exists()
        owner.kill()
        deadline = time.monotonic() + 5.0
        while side.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not side.exists()
