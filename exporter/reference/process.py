"""One life of the reference's child process, from the parent's side."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from pathlib import Path

import exporter
from exporter.reference.listeners import Handover

START_SECONDS = 10.0
_END_SECONDS = 0.3

# Isolated and without site-packages: small, and neither the environment nor the folder that we were started in can
# put other modules in our place. Our own package comes last in the path, behind the standard library.
_CODE = "import sys; sys.path.append(sys.argv[1]); from exporter.reference.child import main; main()"
_COMMAND = ("-I", "-S", "-c", _CODE, str(Path(exporter.__file__).parent.parent))


async def live(handover: Handover, tell_serving: Callable[[int], None]) -> str:
    """Run one child to its end and return what ended it; cancelled, end the child and wait until it is gone.

    Args:
        tell_serving: called with the child's process id once all listeners accept.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *_COMMAND,
            stdin=PIPE,
            stdout=PIPE,
            # Each arena of the allocator keeps what it once had, and a thread would otherwise get one of its own.
            env=os.environ | {"MALLOC_ARENA_MAX": "2"},
        )
    except OSError as error:
        return f"cannot start: {error}"
    try:
        complaint = await _begin(process, handover)
        if complaint:
            return complaint
        tell_serving(process.pid)
        return _describe(await process.wait())
    finally:
        await _end(process)


async def _begin(process: Process, handover: Handover) -> str:
    """Hand over and wait for the child's word that it serves; return what went wrong, or nothing."""
    if process.stdin is None or process.stdout is None:
        raise TypeError("the child has no pipes")
    try:
        async with asyncio.timeout(START_SECONDS):
            process.stdin.write(handover.encode())
            await process.stdin.drain()
            line = await process.stdout.readline()
        answer = json.loads(line)
    except TimeoutError:
        return f"no answer within {START_SECONDS:g} s"
    except (OSError, ValueError):
        return "ended before it answered"
    return str(answer.get("error", ""))


async def _end(process: Process) -> None:
    """Ask the child to end by closing its input; kill it by its handle if it does not."""
    if process.stdin:
        process.stdin.close()
    try:
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
    finally:
        if process.returncode is None:  # we were cancelled while waiting
            process.kill()


def _describe(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
