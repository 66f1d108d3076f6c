"""The process that serves the reference: what it needs comes on standard input, and it lives until that closes.

It imports nothing but the standard library's TLS and JSON, so that it stays small.
"""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from typing import NoReturn

from exporter.reference.contexts import make_contexts
from exporter.reference.deadlines import Deadlines
from exporter.reference.desk import Desk
from exporter.reference.lines import encode
from exporter.reference.listeners import Handover, Listener
from exporter.reference.sampler import start_sampler
from exporter.reference.server import Server

_STDIN, _STDOUT = 0, 1
# What a terminal or a service manager sends to a whole group: the parent decides what it means for us.
_PARENTS_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_QUEUE = 128
_STACK_BYTES = 512 * 1024


def main() -> None:
    """Serve until the parent closes our standard input, which it also does by dying."""
    for number in _PARENTS_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    line = _read_line()
    if not line:
        os._exit(0)
    try:
        handover = Handover.decode(line)
        sampler, channel = start_sampler(handover)  # ahead of all threads, which a fork would not take along
    except (OSError, ValueError, KeyError) as error:
        _refuse(error)
    threading.excepthook = _die
    threading.stack_size(_STACK_BYTES)
    deadlines = Deadlines(time.monotonic)
    try:
        servers = _serve(handover, deadlines)
    except (OSError, ValueError, KeyError) as error:
        _refuse(error)
    _tell({"serving": True})
    ended = Desk(servers, channel, deadlines.sweep).attend()
    with contextlib.suppress(OSError):
        os.kill(sampler, signal.SIGKILL)
        os.waitpid(sampler, 0)
    os._exit(0 if ended else 1)  # at once: the threads hold nothing that must be put away


def _serve(handover: Handover, deadlines: Deadlines) -> Mapping[Listener, Server]:
    contexts = make_contexts(handover)
    servers = {
        listener: Server(listening, contexts[listener], deadlines)
        for listener, listening in _listen(handover.ports).items()
    }
    for server in servers.values():
        server.start()
    return servers


def _listen(ports: Mapping[Listener, int]) -> dict[Listener, socket.socket]:
    listening = {}
    for listener, port in ports.items():
        listening[listener] = socket.create_server(("127.0.0.1", port), backlog=_QUEUE)
        # Accepted connections inherit it.
        listening[listener].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _read_line() -> bytes:
    """Return the first line of standard input, empty where it ends before that."""
    line = b""
    while not line.endswith(b"\n"):
        data = os.read(_STDIN, 65536)
        if not data:
            return b""
        line += data
    return line


def _tell(answer: Mapping[str, object]) -> None:
    os.write(_STDOUT, encode(answer))


def _refuse(error: Exception) -> NoReturn:
    _tell({"error": f"{type(error).__name__}: {error}"})
    os._exit(1)


def _die(failure: threading.ExceptHookArgs) -> None:
    """End the process after a bug in a thread: the parent starts a sound one, with a pause."""
    sys.excepthook(failure.exc_type, failure.exc_value or failure.exc_type(), failure.exc_traceback)
    os._exit(1)


if __name__ == "__main__":
    main()
