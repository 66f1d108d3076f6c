"""The fleet as the demonstration sees it: backends, and orders to change their ticket keys."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exporter.model.target import Address
from exporter.reference.certificates import Credentials
from exporter.reference.launch import command, end

HOSTS = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
_END_SECONDS = 2.0


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
    # In a group of its own, what a terminal sends to ours does not reach it, however early that is.
    process = subprocess.Popen(  # noqa: S603 -- all words are our own
        command("exporter.demo.child"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
        process_group=0,
    )
    try:
        begun = _ask(process, {"pem": credentials.ecdsa, "key": key, "hosts": list(hosts)})
        yield Fleet(process, [Address(host, port) for host, port in begun["addresses"]])
    finally:
        end(process, _END_SECONDS)


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
