"""How a child is started and ended: the command, the environment that it gets, and the word to end."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import exporter

# Isolated and without site-packages: small, and neither the environment nor the folder that we were started in can
# put other modules in our place. Our own package comes last in the path, behind the standard library.
_CODE = "import sys; sys.path.append(sys.argv[1]); from {} import main; main()"


def command(module: str = "exporter.reference.child") -> tuple[str, ...]:
    """Return the program and its arguments, to call the `main` of a module of ours."""
    return sys.executable, "-I", "-S", "-c", _CODE.format(module), str(Path(exporter.__file__).parent.parent)


def environment() -> Mapping[str, str]:
    """Return our own environment with what keeps the child small."""
    # Each arena of the allocator keeps what it once had, and a thread would otherwise get one of its own.
    return os.environ | {"MALLOC_ARENA_MAX": "2"}


def end(process: subprocess.Popen[bytes] | subprocess.Popen[str], seconds: float) -> None:
    """Close our ends of a child's pipes, by which it is told to end, and kill it after so many seconds."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # a child that has ended takes no more of what waits to be written
                pipe.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
