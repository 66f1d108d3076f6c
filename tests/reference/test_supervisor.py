"""The child's life: how it begins, ends and begins again."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from exporter.model.target import Resumption, TlsVersion
from exporter.reference.listeners import SERVER_NAME, Listener
from exporter.reference.supervisor import CONTROL_NAME, TARGET_NAME, Life, next_pause
from tests.reference.client import children_of, is_gone, memory, refuses, running, trust, visit, wait_until

ROOT = Path(__file__).parents[2]
PARENT = """
import asyncio
from tests.reference.client import running

async def main():
    async with running() as reference:
        print(reference.pid, flush=True)
        await asyncio.sleep(30)

asyncio.run(main())
"""


def count_descriptors() -> int:
    """Count what this process has open; the look itself always counts alike."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_targets() -> None:
    """The pair is meant to share its key and the control is not; both are trusted by a CA in memory."""

    async def look() -> None:
        async with running() as reference:
            a, b, c = (reference.addresses[listener] for listener in (Listener.A, Listener.B, Listener.C))
            pair, control = reference.target(60.0), reference.control_target(2.0)

            assert (TARGET_NAME, (a, b), Resumption.SHARED) == (pair.name, pair.backends, pair.expect.resumption)
            assert (CONTROL_NAME, (a, c)) == (control.name, control.backends)
            assert (60.0, 5.0, 2.0, 2.0) == (pair.interval, pair.timeout, control.interval, control.timeout)
            assert {SERVER_NAME} == {pair.server_name, control.server_name}
            assert tuple(TlsVersion) == pair.versions
            assert reference.ca_pem == pair.tls.ca_pem == control.tls.ca_pem
            assert "BEGIN CERTIFICATE" in reference.ca_pem
            assert "PRIVATE" not in reference.ca_pem

    asyncio.run(look())


def test_nothing_is_left() -> None:
    """Leaving ends the child at once, with no descriptor, thread or zombie left."""
    samplers = []

    async def run() -> tuple[int, float]:
        async with running() as reference:
            assert reference.pid
            pid = reference.pid
            samplers.extend(children_of(pid))
            left = time.monotonic()
        return pid, time.monotonic() - left

    threads = threading.active_count()
    asyncio.run(run())  # what libraries open for good is open after the first time
    descriptors = count_descriptors()
    pid, seconds = asyncio.run(run())

    assert not Path(f"/proc/{pid}").exists()
    assert len(samplers) == 2
    assert all(map(is_gone, samplers))
    assert seconds < 1.0
    assert descriptors == count_descriptors()
    assert wait_until(lambda: threading.active_count() <= threads, 2.0)  # asyncio's own that waited for the child


def test_child_that_does_not_end() -> None:
    """A child that cannot see its input close is killed, still within a second."""

    async def run() -> tuple[int, float]:
        async with running() as reference:
            assert reference.pid
            pid = reference.pid
            os.kill(pid, signal.SIGSTOP)
            left = time.monotonic()
        return pid, time.monotonic() - left

    pid, seconds = asyncio.run(run())
    assert not Path(f"/proc/{pid}").exists()
    assert seconds < 1.0


async def test_restart() -> None:
    """A child that was killed is replaced by one with the same addresses and certificates, and other ticket keys."""
    async with running() as reference:
        target, killed = reference.target(60.0), reference.pid
        context, address = trust(reference.ca_pem), reference.addresses[Listener.A]
        session = visit(address, context).session
        assert killed
        os.kill(killed, signal.SIGKILL)
        assert await asyncio.to_thread(wait_until, lambda: refuses(address), 5.0)
        assert await asyncio.to_thread(wait_until, lambda: reference.pid not in {None, killed}, 10.0)
        assert reference.restarts == 1
        assert target == reference.target(60.0)
        assert not visit(address, context, session).resumed


async def test_hung_child() -> None:
    """A child that is stopped still has its sockets, but answers nobody: it counts as dead and is replaced."""
    ended = []
    async with running(Life(beat=0.1, patience=0.2, tell_ended=lambda: ended.append(True))) as reference:
        hung = reference.pid
        assert hung
        os.kill(hung, signal.SIGSTOP)
        assert await asyncio.to_thread(wait_until, lambda: reference.pid not in {None, hung}, 10.0)
        assert is_gone(hung)
        assert [True] == ended
        context, address = trust(reference.ca_pem), reference.addresses[Listener.A]
        assert not (await asyncio.to_thread(visit, address, context)).resumed


async def test_busy_child_is_left_alone() -> None:
    """A child that answers is looked at again and again, and lives on."""
    async with running(Life(beat=0.02, patience=5.0)) as reference:
        before = reference.pid
        for _ in range(20):
            await asyncio.to_thread(visit, reference.addresses[Listener.A], trust(reference.ca_pem))
        assert before == reference.pid
        assert reference.restarts == 0


async def test_dead_sampler() -> None:
    """Without its sampler a child is of no more use, and ends for another to take its place."""
    async with running() as reference:
        first = reference.pid
        assert first
        (sampler,) = children_of(first)
        os.kill(sampler, signal.SIGKILL)
        assert await asyncio.to_thread(wait_until, lambda: reference.pid not in {None, first}, 10.0)
        assert is_gone(sampler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_signal_to_the_group(number: signal.Signals) -> None:
    """A signal that goes to parent and child alike leaves the child running: its parent decides."""
    async with running() as reference:
        assert reference.pid
        os.kill(reference.pid, number)
        context, address = trust(reference.ca_pem), reference.addresses[Listener.A]
        session = visit(address, context).session
        assert visit(address, context, session).resumed
        assert reference.restarts == 0


def test_killed_parent() -> None:
    """A parent that is killed outright takes its child along within two seconds."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        (sampler,) = children_of(child)
        assert not is_gone(child)
        parent.kill()
        assert wait_until(lambda: is_gone(child) and is_gone(sampler), 2.0)


def test_light_import() -> None:
    """The child's module brings in neither its supervisor nor any library beside the standard one."""
    heavy = {"exporter.reference.supervisor", "msgspec", "asyncio", "aiohttp", "cryptography", "structlog"}
    found = subprocess.run(
        [sys.executable, "-c", "import exporter.reference.child, sys; print(*sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
        cwd=ROOT,
    )
    assert not heavy & set(found.stdout.split())


async def test_proportional_memory() -> None:
    """What the child adds to the machine's memory is told by its proportional set size, well under its bound."""
    async with running() as reference:
        assert reference.pid
        assert 0 < memory(reference.pid, "smaps_rollup", "Pss") < 30 * 1024


@pytest.mark.parametrize(
    ("last", "lived", "expected"),
    [
        pytest.param(None, 0.1, 0.5, id="first death"),
        pytest.param(0.5, 0.1, 1.0, id="dies again"),
        pytest.param(16.0, 0.1, 30.0, id="bounded"),
        pytest.param(30.0, 0.1, 30.0, id="stays bounded"),
        pytest.param(30.0, 31.0, 0.5, id="lived long enough"),
    ],
)
def test_pause(last: float | None, lived: float, expected: float) -> None:
    """The pause doubles from death to death up to a bound, and begins anew after a long life."""
    assert expected == next_pause(last, lived)
