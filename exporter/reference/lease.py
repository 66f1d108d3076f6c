"""The reference servers for the length of a block, for a program that has no event loop."""

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from exporter.model.target import Address
from exporter.reference.certificates import Credentials
from exporter.reference.launch import command, end, environment
from exporter.reference.lines import LineBuffer, Question, ask
from exporter.reference.listeners import Handover, Listener
from exporter.reference.ports import reserve
from exporter.yardstick.place import Meter

_ANSWER_SECONDS = 10.0
_END_SECONDS = 1.0


class LeaseError(OSError):
    """The servers could not be started, or do not answer any more."""


class Lease:
    """Running servers.

    Attributes:
        pid: of their process.
        addresses: where they are.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", addresses: Mapping[Listener, Address]) -> None:
        if process.stdin is None or process.stdout is None:
            raise TypeError("the child has no pipes")
        self.pid = process.pid
        self.addresses = addresses
        self._asking, self._answers = process.stdin.fileno(), process.stdout.fileno()
        self._lines = LineBuffer()

    def read_meter(self, listener: Listener) -> Meter:
        """Return what a listener has used so far.

        Raises:
            LeaseError: the servers do not answer.
        """
        return Meter(*self.tell(ask(Question.METERS))["meters"][listener])

    def tell(self, line: bytes) -> Mapping[str, Any]:
        """Send a line, and return the answer to it.

        Raises:
            LeaseError: there is none.
        """
        try:
            while line:
                line = line[os.write(self._asking, line) :]
        except OSError as error:
            raise LeaseError("the reference servers are gone") from error
        end = time.monotonic() + _ANSWER_SECONDS
        while select.select([self._answers], [], [], max(0.0, end - time.monotonic()))[0]:
            data = os.read(self._answers, 65536)
            if not data:
                raise LeaseError("the reference servers are gone")
            for answer in self._lines.feed(data):
                told: Mapping[str, Any] = json.loads(answer)
                return told
        raise LeaseError("the reference servers do not answer")


@contextlib.contextmanager
def lend(
    credentials: Credentials, listeners: Collection[Listener], own: str = "", cipher_suites: str = ""
) -> Iterator[Lease]:
    """Run the servers until the block ends.

    Args:
        own: private key and certificates for Listener.OWN, PEM.
        cipher_suites: those of TLS 1.3 that all listeners are bound to, in OpenSSL's words; all that there are if "".

    Raises:
        LeaseError: they do not start.
    """
    with contextlib.ExitStack() as stack:
        addresses = {listener: reserve(stack) for listener in listeners}
        ports = {listener: address.port for listener, address in addresses.items()}
        handover = Handover(ports, credentials.ecdsa, credentials.rsa, credentials.ca, own)
        settings = stack.enter_context(_settings(cipher_suites))
        process = subprocess.Popen(  # noqa: S603 - all words are our own
            command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environment(), **settings},
            pass_fds=[int(path.rpartition("/")[2]) for path in settings.values()],
            process_group=0,  # what a terminal sends to our group is for us to act upon
        )
        stack.callback(end, process, _END_SECONDS)
        lease = Lease(process, addresses)
        answer = lease.tell(handover.encode())
        if "error" in answer:
            raise LeaseError(f"the reference servers do not start: {answer['error']}")
        yield lease


@contextlib.contextmanager
def _settings(cipher_suites: str) -> Iterator[Mapping[str, str]]:
    """Give the environment in which OpenSSL binds a whole process to cipher suites: config(5), "SSL Configuration".

    The ssl module has no call for the suites of TLS 1.3 before Python 3.15.
    """
    if not cipher_suites:
        yield {}
        return
    file = os.memfd_create("openssl.cnf")
    try:
        text = f"openssl_conf=a\n[a]\nssl_conf=b\n[b]\nsystem_default=c\n[c]\nCiphersuites={cipher_suites}\n"
        os.write(file, text.encode())
        yield {"OPENSSL_CONF": f"/proc/self/fd/{file}"}
    finally:
        os.close(file)
