"""Ports that are free on every loopback address and that nobody else takes meanwhile."""

import errno
import itertools
import os
import socket
from collections.abc import Iterator

LOOPBACK_HOSTS = (*(f"127.0.0.{last}" for last in range(1, 10)), "::1")
_FIRST, _LAST = 11000, 31000  # below the ports that the kernel hands out, so that no client is given one of ours


class Ports:
    """A source of ports; close() gives them all back.

    A port is claimed from other processes on this machine by an abstract Unix socket that bears its number, which the
    kernel takes back however we end.
    """

    def __init__(self, start: int | None = None) -> None:
        """Begin to look at `start`, by default somewhere that depends on the process."""
        width = _LAST - _FIRST
        offset = (os.getpid() * 101 if start is None else start - _FIRST) % width
        self._candidates: Iterator[int] = (_FIRST + (offset + step) % width for step in itertools.count())
        self._claims: list[socket.socket] = []

    def claim(self) -> int:
        """Return a port that is free on every loopback address, and keep it for us.

        Raises:
            OSError: nothing was free among all that can be.
        """
        for port in itertools.islice(self._candidates, _LAST - _FIRST):
            claim = _claimed(port)
            if claim is None:
                continue
            if all(_free(host, port) for host in LOOPBACK_HOSTS):
                self._claims.append(claim)
                return port
            claim.close()
        raise OSError(errno.EADDRINUSE, "no free port")

    def close(self) -> None:
        """Give all ports back; the servers on them must have ended."""
        while self._claims:
            self._claims.pop().close()


def _claimed(port: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0tlsprobe-test-port-{port}")
    except OSError:
        claim.close()
        return None
    return claim


def _free(host: str, port: int) -> bool:
    """Tell whether one could listen there; an address that this machine lacks (no IPv6) is in nobody's way."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections in TIME_WAIT do not count
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.errno == errno.EADDRNOTAVAIL
    return True
