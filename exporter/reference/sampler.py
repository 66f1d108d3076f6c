"""The process that measures our own servers: a client apart from their interpreter, whose threads it would hold up.

It is forked from the child before that has threads, and forks once more for each sample: what the ssl module leaks
with a session (python/cpython issue 116810) is gone with it, and so is whatever went wrong.
"""

import json
import os
import signal
import socket
import ssl
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from exporter.model.target import Address, TlsVersion
from exporter.model.yardstick import KINDS
from exporter.reference.lines import LineBuffer, Question, ask, encode
from exporter.reference.listeners import SERVER_NAME, Handover, Listener
from exporter.yardstick.contexts import trust
from exporter.yardstick.passes import Subject
from exporter.yardstick.place import Meter, MeterError, Place
from exporter.yardstick.sample import Range, take_sample

_LONGEST_SECONDS = 20
_PIECE = 65536


def start_sampler(handover: Handover) -> tuple[int, socket.socket]:
    """Fork the sampler; return its process id, and the socket on which it is asked and asks."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid:
        theirs.close()
        return pid, ours
    ours.close()
    _let_go_of_parent()
    try:
        _attend(theirs, handover)
    finally:
        os._exit(0)


def _let_go_of_parent() -> None:
    """Give up the standard streams, whose other ends would else never see the child end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _attend(channel: socket.socket, handover: Handover) -> None:
    lines = LineBuffer()
    while data := channel.recv(_PIECE):
        for line in lines.feed(data):
            if json.loads(line).get("ask") == Question.SAMPLE:  # else an answer to one who died before he read it
                _measure_apart(channel, handover)


def _measure_apart(channel: socket.socket, handover: Handover) -> None:
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        if status:
            channel.sendall(encode({"failure": f"the sampler ended with {os.waitstatus_to_exitcode(status)}"}))
        return
    signal.alarm(_LONGEST_SECONDS)
    try:
        channel.sendall(encode(_measure(_Asking(channel).ask, handover)))
    except BaseException:  # noqa: BLE001 - a fork must not go on where its original does
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


class _Asking:
    """Asks the servers' process what it used."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._lines = LineBuffer()

    def ask(self) -> Mapping[str, Any]:
        self._channel.sendall(ask(Question.METERS))
        while data := self._channel.recv(_PIECE):
            for line in self._lines.feed(data):
                answer: Mapping[str, Any] = json.loads(line)
                return answer
        raise OSError("the servers are gone")


def _measure(meters: Callable[[], Mapping[str, Any]], handover: Handover) -> Mapping[str, object]:
    """Return a sample as JSON, or why there is none."""
    try:
        return {"sample": asdict(take_sample(_range(meters, handover)))}
    except (OSError, MeterError) as error:
        return {"failure": f"{type(error).__name__}: {error}"}


def _range(meters: Callable[[], Mapping[str, Any]], handover: Handover) -> Range:

    def place(listener: Listener, context: ssl.SSLContext | None) -> Place:
        where = Address("127.0.0.1", handover.ports[listener])
        return Place(where, context, SERVER_NAME, lambda: Meter(*meters()["meters"][listener]))

    listeners = (Listener.ECDSA, Listener.RSA, Listener.TLS12)
    contexts = {version: trust(handover.ca, version) for version in TlsVersion}
    subjects = [
        Subject(kind, place(listener, contexts[kind.tls]), place(Listener.C, contexts[kind.tls]))
        for kind, listener in zip(KINDS, listeners, strict=True)
    ]
    return Range(
        subjects,
        plain=place(Listener.PLAIN, None),
        tls=subjects[0].place,
        used=lambda: time.process_time() + float(meters()["process"]),
    )
