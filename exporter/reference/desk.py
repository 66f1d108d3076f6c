"""Where the child is asked: it tells what its listeners used, and passes on what its sampler measured."""

import json
import os
import select
import socket
import time
from collections.abc import Callable, Mapping

from exporter.reference.lines import LineBuffer, Question, ask, encode
from exporter.reference.listeners import Listener
from exporter.reference.server import Server

_STDIN, _STDOUT = 0, 1
_SWEEP_SECONDS = 0.5
_PIECE = 65536


class Desk:
    """Answers the parent on our standard streams, and the sampler on a socket, until the parent closes our input."""

    def __init__(self, servers: Mapping[Listener, Server], sampler: socket.socket, sweep: Callable[[], None]) -> None:
        self._servers = servers
        self._sampler = sampler
        self._sweep = sweep
        self._lines = {_STDIN: LineBuffer(), sampler.fileno(): LineBuffer()}

    def attend(self) -> bool:
        """Return True at the end of our input, and False where it is the sampler that ended."""
        while True:
            for stream in select.select([*self._lines], [], [], _SWEEP_SECONDS)[0]:
                data = os.read(stream, _PIECE)
                if not data:
                    return bool(stream == _STDIN)
                for line in self._lines[stream].feed(data):
                    self._handle(stream, line)
            self._sweep()

    def _handle(self, stream: int, line: bytes) -> None:
        asked = json.loads(line).get("ask")
        if asked == Question.METERS:
            answer = encode(self._read_meters())
            if stream == _STDIN:
                os.write(_STDOUT, answer)
            else:
                self._sampler.sendall(answer)
        elif stream == _STDIN:
            self._sampler.sendall(ask(Question.SAMPLE))
        else:
            os.write(_STDOUT, line)

    def _read_meters(self) -> Mapping[str, object]:
        meters = {listener: server.usage.read() for listener, server in self._servers.items()}
        return {"meters": meters, "process": time.process_time()}
