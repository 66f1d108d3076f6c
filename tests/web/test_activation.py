"""Sockets from systemd, in a process of their own as systemd starts it."""

import os
import socket
import subprocess
import sys

import pytest

from exporter.web.activation import take_sockets
from exporter.web.listen import ListenError

_PROGRAM = """
import os, sys
from exporter.web.activation import take_sockets
from exporter.web.listen import ListenError, spell
os.environ["LISTEN_PID"] = str(os.getpid())
try:
    sockets = take_sockets(os.environ, os.getpid())
except ListenError as error:
    print(error)
else:
    print(*map(spell, sockets), [each.get_inheritable() for each in sockets], "LISTEN_FDS" in os.environ)
"""


def started(handed: socket.socket, number: str = "1") -> str:
    """Start a process to which a socket is handed over as its descriptor 3, and return what it prints."""
    words = [sys.executable, "-c", f"import os; os.dup2({handed.fileno()}, 3)\n{_PROGRAM}"]
    environment = {**os.environ, "LISTEN_FDS": number, "LISTEN_FDNAMES": "web"}
    ended = subprocess.run(
        words, env=environment, pass_fds=[handed.fileno()], capture_output=True, text=True, check=False, timeout=30
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_a_socket_that_listens() -> None:
    """A socket that was handed over is taken, and no child inherits it or believes that it is meant."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert started(listener) == f"127.0.0.1:{listener.getsockname()[1]} [False] False"


def test_a_socket_that_does_not_listen() -> None:
    """A socket that does not listen, or not for streams, is refused by its descriptor."""
    told = "cannot listen on descriptor 3 of systemd: it is no stream socket that listens"
    with socket.socket() as plain, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        assert [started(each) for each in (plain, datagrams)] == [told] * 2


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({}, id="nothing said"),
        pytest.param({"LISTEN_PID": "1", "LISTEN_FDS": "1"}, id="meant for another process"),
        pytest.param({"LISTEN_PID": "77", "LISTEN_FDS": "0"}, id="none"),
        pytest.param({"LISTEN_PID": "77", "LISTEN_FDS": "x"}, id="no number"),
    ],
)
def test_none(environment: dict[str, str]) -> None:
    """Where no socket was handed over, that is an error, since nothing would be served."""
    with pytest.raises(ListenError, match="it has handed over none"):
        take_sockets(environment, 77)

    assert environment == {}
