"""Runs a built stage as an engine would: its own user, all of it read-only, no shell, a network of its own."""

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.deploy.imagebuild import Built

_SHELLS = ("bash", "dash", "sh")
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Container:
    """A running stage.

    Attributes:
        process: outside of the namespaces, whose exit code is that of the first process inside.
        first: the first process inside, by its number outside.
        log: of the first process.
    """

    process: "subprocess.Popen[bytes]"
    first: int
    log: Path
    built: Built

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run another command inside."""
        user, group = self.built.user.split(":")
        inside = ["--mount", "--net", "--pid", "--root", f"--setuid={user}", f"--setgid={group}"]
        command = [*_environment(self.built), "/usr/bin/nsenter", f"--target={self.first}", *inside, "--", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)

    def wait_until_well(self, *words: str) -> None:
        """Wait until a command succeeds inside.

        Raises:
            AssertionError: the first process ended, or it took too long.
        """
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            if not self.run(*words).returncode:
                return
            time.sleep(0.2)
        raise AssertionError(f"not well, exit code {self.process.poll()}:\n{self.log.read_text()}")

    def end(self) -> int:
        """Ask the first process to end, and return its exit code."""
        os.kill(self.first, signal.SIGTERM)
        return self.process.wait(_SECONDS)


@contextmanager
def running(built: Built, words: Sequence[str], base: Path, folder: Path) -> Iterator[Container]:
    """Run the words until the block ends.

    Args:
        folder: for the log and the mount, which nobody outside sees.
    """
    root = folder / "root"
    root.mkdir()
    commands = [
        f"mount -t overlay -o lowerdir={built.layer}:{shlex.quote(str(base))} overlay {root}",
        f"mount -t proc proc {root}/proc",
        *(f"mount --bind /dev/null {root}/usr/bin/{shell}" for shell in _SHELLS),
        "ip link set lo up",
        f"exec setpriv --no-new-privs chroot --userspec={built.user} {root} {shlex.join(words)}",
    ]
    script = "\n".join(["set -e", *commands])
    namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child"]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*_environment(built), "/usr/bin/unshare", *namespaces, "/bin/sh", "-c", script],
            stdout=output,
            stderr=output,
        )
    try:
        yield Container(process, _first_inside(process.pid), log, built)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(_SECONDS)


def _first_inside(outside: int) -> int:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        if children := Path(f"/proc/{outside}/task/{outside}/children").read_text().split():
            return int(children[0])
        time.sleep(0.01)
    raise AssertionError("nothing was started in the namespaces")


def _environment(built: Built) -> list[str]:
    return ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in built.environment.items())]
