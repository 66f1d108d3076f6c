"""`tlsprobe capacity`, with worker processes of its own, against nginx."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from exporter.cli import main
from exporter.cli.capacity import spell_where
from exporter.model.target import Address
from tests.daemon import TLSPROBE
from tests.load.peers import (
    Behaviour,
    answer,
    ask_certificate,
    close_at_once,
    keep_silent,
    listen,
    only_tls13,
    shake_only,
    speak_clear,
    without_tickets,
)
from tests.servers import nginx
from tests.servers.certificates import Leaf
from tests.servers.ports import Ports

QUICK = ["--seconds", "0.5", "--processes", "2", "--timeout", "30"]


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory, ports: Ports, leaf: Leaf) -> Iterator[str]:
    """Where an nginx with tickets listens."""
    address = Address("127.0.0.1", ports.claim())
    with nginx.start(tmp_path_factory.mktemp("capacity"), address, nginx.Settings(leaf=leaf)):
        yield str(address)


@pytest.mark.servers("nginx")
def test_closed_loop(where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both modes are measured, all that should resume does, and a wave can be reckoned from the document."""
    words = ["--json", "--workers", "4", "--require", "resumed>=1", "--require", "full>=1"]
    assert main(["capacity", where, *QUICK, *words]) == 0
    text = capsys.readouterr().out
    modes = json.loads(text)["modes"]
    (full,), (resumed,) = modes["full"]["steps"], modes["resumed"]["steps"]

    assert full["completed"] > 0
    assert full["resumed"] == 0
    assert resumed["resumed"] == resumed["completed"] > 0
    assert modes["full"]["ceiling_per_second"] == full["done_per_second"] == full["completed"] / 0.5
    file = tmp_path / "capacity.json"
    file.write_text(text)
    assert main(["wave", "--clients", "9", "--servers", "1", "--capacity", str(file), "--resumed", "0.5"]) == 0


@pytest.mark.servers("nginx")
def test_fewer_clients_than_processes(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A process for which no client is left makes no load, and least of all by the clock."""
    assert main(["capacity", where, *QUICK, "--json", "--workers", "1", "--mode", "full"]) == 0
    ((step,),) = (mode["steps"] for mode in json.loads(capsys.readouterr().out)["modes"].values())

    # One client has one connection under way at each end of the time.
    assert step["completed"] - 1 <= step["due"] <= step["completed"] + 1
    assert step["handshake_seconds"]["p50"] < 0.5


@pytest.mark.servers("nginx")
def test_open_loop_for_people(where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each step is a line, a missed pass line ends with exit code 1, and the picture needs nothing from elsewhere."""
    picture = tmp_path / "p99.svg"
    words = ["--rate", "10,20", "--mode", "resumed", "--background-rps", "10", "--plot", str(picture)]
    lines = ["--require", "resumed>=999999", "--require", "p99<=60s"]
    assert main(["capacity", where, *QUICK, *words, *lines]) == 1
    printed = capsys.readouterr().out.splitlines()

    assert "open loop, 2 processes" in printed[0]
    assert {"10", "20"} == {line.split()[1] for line in printed if line.startswith("resumed ")}
    assert any(line.startswith("resumed>=999999: MISSED, found ") for line in printed)
    assert any(line.startswith("p99<=60s: met, found ") for line in printed)
    text = picture.read_text()
    assert "resumed p99" in text
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - we have just drawn it
    assert [] == re.findall(r"(?:src|href)=['\"](?:https?:)?//[^'\"]*", text)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["192.0.2.1:443"], "--i-operate-this-server says that it is", id="not on loopback"),
        pytest.param(["192.0.2.1:443", "--i-operate-this-server", "--rate", "10001"], "at most 10000", id="rate away"),
        pytest.param(
            ["192.0.2.1:443", "--i-operate-this-server", "--workers", "257"], "at most 256", id="clients away"
        ),
        pytest.param(["192.0.2.1:443", "--i-operate-this-server", "--seconds", "11"], "at most 10", id="time away"),
        pytest.param(["127.0.0.1:1", "--plot", "x.svg"], "needs --rate", id="picture of one point"),
        pytest.param(["127.0.0.1:1", "--no-http", "--background-rps", "9"], "cannot be used", id="no requests"),
        pytest.param(["127.0.0.1:1", "--path", "x y"], "must begin with a slash", id="path"),
        pytest.param(["127.0.0.1:1", "--require", "fast"], '"fast" is no pass line', id="pass line"),
        pytest.param(["127.0.0.1:1", "--mode", "full", "--require", "resumed>=1"], "--mode both does", id="mode"),
        pytest.param(["127.0.0.1:1", "--rate", "0.01"], "--rate 0.01 makes nothing due in 5 s", id="rate of nothing"),
        pytest.param(["127.0.0.1:1", "--background-rps", "0.1"], "raise it to 0.2 or more", id="background of nothing"),
        pytest.param(["nowhere.invalid:1"], "has no address: look for", id="no address"),
        pytest.param(["https://127.0.0.1"], "is no address", id="a URL"),
        pytest.param(["127.0.0.1:1", "--server-name", "a\r\nX: y"], "--server-name: ", id="name with a header in it"),
        pytest.param(["127.0.0.1:1", "--server-name", f"{'a' * 64}.example"], "--server-name: ", id="label too long"),
    ],
)
def test_refused(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is not allowed or makes no sense is refused before anything is sent."""
    assert main(["capacity", *words]) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("name", ["none/p99.svg", "."])
def test_picture_that_cannot_be_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A picture that cannot be written is told before anything is sent."""
    words = ["--rate", "10", "--mode", "full", "--plot", str(tmp_path / name)]
    assert main(["capacity", "127.0.0.1:1", *QUICK, *words]) == 2
    printed = capsys.readouterr()

    assert printed.out == ""
    assert "cannot be written" in printed.err


@pytest.mark.servers("nginx")
def test_picture_that_no_longer_can_be_written(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A device that is full only when the picture comes is told behind what was measured."""
    assert main(["capacity", where, *QUICK, "--rate", "10", "--mode", "full", "--plot", "/dev/full"]) == 2
    printed = capsys.readouterr()

    assert "full: " in printed.out
    assert "--plot: /dev/full cannot be written: No space left on device" in printed.err


@pytest.mark.parametrize("content", [None, "a picture"])
def test_picture_of_what_could_not_be_measured(content: str | None, ports: Ports, tmp_path: Path) -> None:
    """Where nothing could be measured no picture is left behind, and one from before is as it was."""
    picture = tmp_path / "p99.svg"
    if content is not None:
        picture.write_text(content)

    assert main(["capacity", f"127.0.0.1:{ports.claim()}", *QUICK, "--rate", "10", "--plot", str(picture)]) == 2
    assert content == (picture.read_text() if picture.exists() else None)


@pytest.mark.servers("nginx")
def test_workers_end_with_their_parent(where: str) -> None:
    """Workers do not outlive a parent that was killed, in the middle of a step."""
    code = "import sys; from exporter.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["capacity", where, "--seconds", "60", "--processes", "2"]
    with subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert b"closed loop" in parent.stdout.readline()
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        parent.kill()
    assert len(children) == 2
    assert _end_soon(children)


@pytest.mark.servers("nginx")
def test_interrupted_at_once(where: str) -> None:
    """An interrupt that a terminal sends while workers are still starting ends all without a word."""
    code = "import sys; from exporter.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "capacity", where, "--seconds", "60", "--processes", "2"]
    # Whoever runs the tests in the background may ignore interrupts, which is inherited.
    with subprocess.Popen(["env", "--default-signal=INT", *words], stderr=subprocess.PIPE, process_group=0) as parent:
        children: list[str] = []
        deadline = time.monotonic() + 20
        while not any(map(_catches_interrupts, children)) and time.monotonic() < deadline:
            children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        os.killpg(parent.pid, signal.SIGINT)
        _, said = parent.communicate(timeout=20)

    assert (130, b"") == (parent.returncode, said)
    # One that was just being started is not waited for; it ends as soon as it finds nobody there.
    assert _end_soon(children)


def _end_soon(pids: list[str]) -> bool:
    """Wait until none of the processes runs any more; tell whether that came about."""
    deadline = time.monotonic() + 20
    while (running := any(map(_runs, pids))) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not running


def _catches_interrupts(pid: str) -> bool:
    """Tell whether a process has come so far as to have an interpreter that would raise KeyboardInterrupt."""
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (signal.SIGINT - 1) & 1)


@pytest.mark.servers("nginx")
@pytest.mark.parametrize(
    ("files", "words", "expected"),
    [
        pytest.param(64, [], "no connection can be begun", id="not even one"),
        pytest.param(80, ["--workers", "64"], "64 clients at once are more than the 32", id="some"),
    ],
)
def test_too_few_files(files: int, words: list[str], expected: str, where: str) -> None:
    """Where clients are more than files that may be open, it is said, and not measured with fewer."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]),) * 2); "
        "from exporter.cli import main; sys.exit(main(sys.argv[2:]))"
    )
    command = [sys.executable, "-c", code, str(files), "capacity", where, *QUICK, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 2
    assert expected in done.stderr
    assert "ulimit -n" in done.stderr


def test_too_few_files_for_workers() -> None:
    """Nor can a worker be started without files, which is told with what to raise."""
    command = ["prlimit", "--nofile=8:8", *TLSPROBE, "capacity", "127.0.0.1:1", *QUICK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 2
    assert "a worker cannot be started: Too many open files; raise `ulimit -n`" in done.stderr


@pytest.mark.servers("nginx")
def test_name_beyond_ascii(where: str) -> None:
    """A server name is sent in its A-label form, as an address on the command line is."""
    assert main(["capacity", where, *QUICK, "--server-name", "straße.example", "--mode", "full", "--workers", "1"]) == 0


def _runs(pid: str) -> bool:
    """Tell whether a process runs; one that has ended may wait for its parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("where", "others", "expected"),
    [
        pytest.param("127.0.0.1:1", (), "127.0.0.1:1", id="an address"),
        pytest.param("[::1]:1", (), "[::1]:1", id="an address of version 6"),
        pytest.param("a:1", (), "a:1 at 127.0.0.1", id="a name"),
        pytest.param("a:1", ("::1",), "a:1 at 127.0.0.1, the first of its addresses (::1 left alone)", id="two"),
    ],
)
def test_which_address(where: str, others: tuple[str, ...], expected: str) -> None:
    """It is told which address of a name is measured, and which are not."""
    host = "::1" if where.startswith("[") else "127.0.0.1"

    assert expected == spell_where(where, host, others)


@pytest.mark.parametrize(
    ("behave", "words", "expected"),
    [
        pytest.param(lambda _: close_at_once, [], "look into the server's log", id="closes at once"),
        pytest.param(lambda _: keep_silent, [], "handshake: timeout: look whether the server is well", id="silent"),
        pytest.param(lambda leaf: answer(leaf, "503 No"), [], "answers 429 or 5xx to GET /: name a --path", id="503"),
        pytest.param(lambda _: speak_clear, [], "name a port that speaks TLS from the first byte", id="in clear"),
        pytest.param(ask_certificate, [], "the server wants a client certificate", id="client certificate"),
        pytest.param(
            ask_certificate, ["--no-http"], "the server wants a client certificate", id="client certificate, no HTTP"
        ),
        pytest.param(shake_only, [], "GET / is not answered: name another --path, or", id="no HTTP"),
        pytest.param(
            only_tls13, ["--tls", "1.2"], "does not speak that version: name another with --tls", id="version"
        ),
    ],
)
def test_first_connection_fails(
    behave: Callable[[Leaf], Behaviour],
    words: list[str],
    expected: str,
    leaf: Leaf,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Where not even one connection works, it is told of which server, what happened, and what to look at."""
    with listen(behave(leaf)) as address:
        assert main(["capacity", str(address), "--processes", "1", "--timeout", "0.5", *words]) == 2
    said = capsys.readouterr().err

    assert said.startswith(f"tlsprobe capacity: {address}: the first connection failed, ")
    assert expected in said


def test_server_that_does_not_resume(leaf: Leaf, capsys: pytest.CaptureFixture[str]) -> None:
    """A server without tickets is measured in full handshakes, with a word on the others; alone those are refused."""
    command = ["--processes", "1", "--workers", "1", "--seconds", "0.5", "--timeout", "30"]
    with listen(without_tickets(leaf)) as address:
        assert main(["capacity", str(address), *command, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert main(["capacity", str(address), *command, "--mode", "resumed"]) == 2
    assert "let it issue tickets, or use --mode full" in capsys.readouterr().err

    assert document["resumes"] is False
    assert ["full"] == list(document["modes"])


@pytest.mark.servers("nginx")
def test_address_of_version_6(tmp_path: Path, ports: Ports, leaf: Leaf, capsys: pytest.CaptureFixture[str]) -> None:
    """A server on the loopback address of IPv6 is on loopback, too."""
    address = Address("::1", ports.claim())
    with nginx.start(tmp_path, address, nginx.Settings(leaf=leaf)):
        assert main(["capacity", str(address), *QUICK, "--workers", "1", "--mode", "full", "--json"]) == 0

    assert str(address) == json.loads(capsys.readouterr().out)["address"]


def test_nobody_listens(ports: Ports, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that is not there cannot be measured, which is no missed pass line."""
    assert main(["capacity", f"127.0.0.1:{ports.claim()}", *QUICK, "--require", "full>=1"]) == 2
    said = capsys.readouterr().err
    assert "connection refused" in said
    assert "look whether a server listens there, on port" in said


@pytest.mark.servers("nginx")
def test_a_line_that_nothing_meets(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A pass line is missed, too, where nothing was sustained at all."""
    assert main(["capacity", where, *QUICK, "--mode", "full", "--rate", "10", "--require", "p99<=0.001ms"]) == 1
    assert "p99<=0.001ms: MISSED, found nothing" in capsys.readouterr().out
