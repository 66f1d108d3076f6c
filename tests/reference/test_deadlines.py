"""Waits of blocking sockets that are ended from outside."""

import socket

from exporter.reference.deadlines import Deadlines


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        """Return what it was set to."""
        return self.now


def test_overdue() -> None:
    """A sweep ends the wait of a connection whose time is up and leaves the others alone."""
    clock = Clock()
    deadlines = Deadlines(clock)
    ours, theirs = socket.socketpair()
    others, silent = socket.socketpair()
    with theirs, silent:
        deadlines.put(ours, 5.0)
        deadlines.put(others, 6.0)
        clock.now = 4.9
        deadlines.sweep()
        theirs.sendall(b"in time")
        assert ours.recv(100) == b"in time"

        clock.now = 5.0
        deadlines.sweep()
        assert ours.recv(100) == b""
        silent.sendall(b"still open")
        assert others.recv(100) == b"still open"
        deadlines.close(ours)
        deadlines.close(others)


def test_renewed() -> None:
    """A new deadline replaces the one before, and a closed connection has none."""
    clock = Clock()
    deadlines = Deadlines(clock)
    ours, theirs = socket.socketpair()
    with theirs:
        deadlines.put(ours, 1.0)
        clock.now = 0.9
        deadlines.put(ours, 1.0)
        clock.now = 1.5
        deadlines.sweep()
        theirs.sendall(b"open")
        assert ours.recv(100) == b"open"
        deadlines.close(ours)

        clock.now = 10.0
        deadlines.sweep()
        assert len(deadlines) == 0
