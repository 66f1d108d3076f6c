"""How the child is started: the command, and the environment that it gets."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import exporter

# Isolated and without site-packages: small, and neither the environment nor the folder that we were started in can
# put other modules in our place. Our own package comes last in the path, behind the standard library.
_CODE = "import sys; sys.path.append(sys.argv[1]); from exporter.reference.child import main; main()"


def command() -> tuple[str, ...]:
    """Return the program and its arguments."""
    return sys.executable, "-I", "-S", "-c", _CODE, str(Path(exporter.__file__).parent.parent)


def environment() -> Mapping[str, str]:
    """Return our own environment with what keeps the child small."""
    # Each arena of the allocator keeps what it once had, and a thread would otherwise get one of its own.
    return os.environ | {"MALLOC_ARENA_MAX": "2"}
