"""The fleet as the demonstration sees it: backends, and orders to change their ticket keys."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import exporter
from exporter.model.target import Address
from exporter.reference.certificates import Credentials

HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
_END_SECONDS = 2.0
# Isolated and without site-packages, since it needs nothing but the standard library and our own package.
_CODE = "import sys; sys.path.append(sys.argv[1]); from exporter.demo.child import main; main()"


@dataclass(frozen=True, slots=True)
class Order:
    """What one backend is to do with its ticket keys, which are known by what we call them.

    Attributes:
        backend: its number, from 0.
        issues: the key for new tickets.
        accepts: other keys whose tickets it accepts.
    """

    backend: int
    issues: str
    accepts: tuple[str, ...] = ()


class Fleet:
    """Running backends.

    Attributes:
        addresses: in the order of their numbers.
    """

    def __init__(self, process: "subprocess.Popen[str]", addresses: Sequence[Address]) -> None:
        self.addresses = tuple(addresses)
        self._process = process

    def obey(self, order: Order) -> None:
        """Change the keys of one backend, and return when that is done.

        Raises:
            OSError: the fleet is gone.
        """
        words = {"backend": order.backend, "issues": order.issues, "accepts": order.accepts}
        _ask(self._process, words)


@contextlib.contextmanager
def start(credentials: Credentials, key: str, hosts: Sequence[str] = HOSTS) -> Iterator[Fleet]:
    """Run the backends, all with one ticket key, until the block ends.

    Raises:
        OSError: they cannot be started.
    """
    command = (sys.executable, "-I", "-S", "-c", _CODE, str(Path(exporter.__file__).parent.parent))
    # In a group of its own, what a terminal sends to ours does not reach it, however early that is.
    process = subprocess.Popen(  # noqa: S603 -- all words are our own
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ), process_group=0
    )
    try:
        begun = _ask(process, {"pem": credentials.ecdsa, "key": key, "hosts": list(hosts)})
        yield Fleet(process, [Address(host, port) for host, port in begun["addresses"]])
    finally:
        _end(process)


def _ask(process: "subprocess.Popen[str]", words: Mapping[str, object]) -> Mapping[str, Any]:
    if process.stdin is None or process.stdout is None:
        raise TypeError("the fleet has no pipes")
    process.stdin.write(json.dumps(words) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise OSError("the fleet's backends have ended")
    answer: Mapping[str, Any] = json.loads(line)
    return answer


def _end(process: "subprocess.Popen[str]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
