"""`tlsprobe health` against a real exporter and against what is none."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from exporter.cli import main
from tests.daemon import running

Answer = Callable[[socket.socket], None]


@dataclass(frozen=True)
class Told:
    """Exit code and output of the command."""

    code: int
    out: str
    err: str


Ask = Callable[[str], Told]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run the command in this process."""

    def run(url: str) -> Told:
        return Told(main(["health", url]), *capsys.readouterr())

    return run


@contextmanager
def answering(answer: Answer) -> Iterator[int]:
    """Answer one connection on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with listener.accept()[0] as client:
                client.recv(4096)
                answer(client)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(10)


def test_a_running_exporter_is_healthy(tmp_path: Path, ask: Ask) -> None:
    """The health page is asked for by itself, any other where the URL names it."""
    with running(tmp_path) as daemon:
        answers = [ask(f"http://127.0.0.1:{daemon.port}{path}") for path in ("", "/", "/-/healthy?x", "/nowhere")]

    assert [(0, "healthy\n")] * 3 + [(1, "")] == [(each.code, each.out) for each in answers]
    assert "404" in answers[-1].err


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(lambda _: None, "closed", id="closes"),
        pytest.param(lambda client: client.sendall(b"SSH-2.0\r\n"), "SSH", id="speaks something else"),
        pytest.param(
            lambda client: client.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 6\r\n\r\n\x1b[2Jno"),
            "503  [2Jno\n",
            id="is not ready, in colour",
        ),
    ],
)
def test_whoever_answers_otherwise_is_not_healthy(answer: Answer, expected: str, ask: Ask) -> None:
    """The exit code is 1, and one printable line says why."""
    with answering(answer) as port:
        found = ask(f"http://127.0.0.1:{port}")

    assert 1 == found.code
    assert expected in found.err
    assert 1 == found.err.count("\n")


@pytest.mark.parametrize(
    "url", ["https://localhost:1", "localhost:10507", "http://", "http://[::1", "http://h:x", "http://u@h", ""]
)
def test_what_is_no_plain_url_is_refused(url: str, ask: Ask) -> None:
    """Nobody is asked, and the line says what is allowed."""
    found = ask(url)

    assert 1 == found.code
    assert "allowed: http://HOST:PORT" in found.err


def test_a_closed_port_is_not_healthy(ask: Ask) -> None:
    """Where nobody listens, the exit code is 1."""
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]

    assert 1 == ask(f"http://127.0.0.1:{port}").code
