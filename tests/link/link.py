"""Two network namespaces with a delay between them."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from tests.link.packets import LOG_RECORDS, Packet, read_log

_SOURCE = Path(__file__).with_name("forwarder.c")
_DEVICE = "/dev/net/tun"
_PROGRAMS = ("gcc", "ip", "nsenter", "unshare")
_PATIENCE = 30.0


class Addresses(NamedTuple):
    """The two addresses of one side; they mean nothing outside of the namespaces."""

    v4: str
    v6: str


CLIENT = Addresses("198.18.0.1", "fd00:18::1")
SERVER = Addresses("198.18.0.2", "fd00:18::2")


def why_not() -> str:
    """Return why this machine cannot have such a link, empty where it can; tried out, since being root may not do."""
    missing = [program for program in _PROGRAMS if not shutil.which(program)]
    if missing:
        return f"a link between namespaces needs {' and '.join(missing)}"
    try:
        os.close(os.open(_DEVICE, os.O_RDWR))
    except OSError as error:
        return f"a link between namespaces needs {_DEVICE}: {error.strerror}"
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False, timeout=_PATIENCE)
    return "" if tried.returncode == 0 else "a link between namespaces needs the right to make namespaces (root)"


class Link:
    """A context manager; inside it, commands that begin with a side's prefix run on that side of the link.

    Nothing that is sent on either side leaves the two namespaces. They have no names and belong to the forwarder,
    so they vanish with it, and it ends with us, however that comes about.

    Attributes:
        delay_seconds: each way.
        client_address, server_address: IPv4 and IPv6.
        client_command_prefix, server_command_prefix: words to put before a command.
    """

    client_address = CLIENT
    server_address = SERVER

    def __init__(self, delay_seconds: float) -> None:
        self.delay_seconds = delay_seconds
        self.client_command_prefix: list[str] = []
        self.server_command_prefix: list[str] = []
        self._log = -1
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self._log = os.memfd_create("packets")
            stack.callback(os.close, self._log)
            forwarder = stack.enter_context(_run_forwarder(self.delay_seconds, self._log))
            self.client_command_prefix, self.server_command_prefix = _read_prefixes(forwarder)
            _configure(self.client_command_prefix, CLIENT)
            _configure(self.server_command_prefix, SERVER)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def packets(self) -> tuple[Packet, ...]:
        """Return every packet that has crossed the link so far, up to the log's size."""
        return read_log(self._log)


@contextlib.contextmanager
def _run_forwarder(delay: float, log: int) -> Iterator[subprocess.Popen[str]]:
    forwarder = _start_forwarder([str(round(delay * 1e9)), str(log), str(LOG_RECORDS)], log)
    with forwarder:
        try:
            yield forwarder
        finally:
            if forwarder.stdin:
                forwarder.stdin.close()
            try:
                forwarder.wait(1.0)
            except subprocess.TimeoutExpired:
                forwarder.kill()


def _start_forwarder(arguments: list[str], log: int) -> subprocess.Popen[str]:
    """Compile and start; a running program needs no file, so none is left however we end."""
    with tempfile.TemporaryDirectory(prefix="link-") as folder:
        program = f"{folder}/forwarder"
        compiler = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, str(_SOURCE)]
        subprocess.run(compiler, check=True, timeout=_PATIENCE)
        return subprocess.Popen(
            [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=[log]
        )


def _read_prefixes(forwarder: subprocess.Popen[str]) -> tuple[list[str], list[str]]:
    """Wait for the forwarder's word that both sides are there."""
    line = forwarder.stdout.readline() if forwarder.stdout else ""
    try:
        client, server = line.split()
    except ValueError:
        raise RuntimeError(f"the forwarder ended with {forwarder.wait(_PATIENCE)}; it said why on stderr") from None
    return _prefix(forwarder.pid, client), _prefix(forwarder.pid, server)


def _prefix(pid: int, descriptor: str) -> list[str]:
    return ["nsenter", f"--net=/proc/{pid}/fd/{descriptor}"]


def _configure(prefix: list[str], own: Addresses) -> None:
    commands = f"""\
link set lo up
link set link0 addrgenmode none
link set link0 mtu 1500 up
address add {own.v4}/30 dev link0
address add {own.v6}/64 dev link0 nodad
"""
    subprocess.run([*prefix, "ip", "-batch", "-"], input=commands, text=True, check=True, timeout=_PATIENCE)
