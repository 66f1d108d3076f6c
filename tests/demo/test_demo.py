"""The demonstration: its story against the exporter's own metrics, and its pages in a real browser."""

import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exporter.cli import main
from tests.demo.browser import Browser, browsing
from tests.demo.pictures import look_at_all
from tests.demo.playing import Demo, playing


@pytest.mark.servers("chromium", "chromedriver")
@pytest.mark.timeout(180)
def test_story(tmp_path: Path) -> None:
    """The story is told to its end, as the metrics have it, and the split backend stands out on the pages."""
    with browsing(tmp_path) as browser, playing("--speed", "20", "--step") as demo:
        assert "TLS 1.3 consistent" in demo.next_page()
        assert demo.value("tlsprobe_ticket_key_state", target="shop", state="consistent") == 2
        while "TLS 1.3 split" not in demo.next_page():
            pass
        assert demo.value("tlsprobe_ticket_key_state", target="shop", state="split") == 2
        assert demo.value("tlsprobe_ticket_key_changes_total", target="shop") >= 6
        deaths = demo.value("tlsprobe_ticket_key_breaks_total", target="shop")
        _look(browser, demo)
        while "with key 4" not in demo.next_page():
            pass
        assert demo.value("tlsprobe_ticket_key_breaks_total", target="shop") >= deaths + 6
        assert demo.value("tlsprobe_ticket_key_state", target="shop", state="consistent") == 2
        browser.open(f"{demo.url}/targets/shop")
        assert "shop.example.com" in browser.text("main")
        assert "tickets within their life are not accepted any more" in browser.text("#events")
        demo.end_of_input()
        demo.read_until("That was it.")
        assert demo.process.wait(20) == 0

    states = re.findall(r"Seen: TLS 1.3 (.*?); TLS 1.2 (.*?);", demo.told)
    expected = ["consistent", "rotating", "consistent", "rotating", "one way", "split", "consistent", "consistent"]
    assert states == [(state, state) for state in expected]


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGTERM, id="told to end"),
        pytest.param(signal.SIGHUP, id="terminal closed"),
        pytest.param(signal.SIGINT, id="interrupted"),
        pytest.param(signal.SIGKILL, id="killed"),
    ],
)
def test_nothing_is_left(number: signal.Signals) -> None:
    """Whatever ends the command ends all that it has started; a kill alone leaves its folder behind."""
    with playing("--speed", "20") as demo:
        demo.read_until("Seen: ")
        folder = Path(re.findall(r"Its configuration: +(.*)/config\.yaml", demo.told)[0])
        started = Path(f"/proc/{demo.process.pid}/task/{demo.process.pid}/children").read_text().split()
        assert len(started) == 2
        demo.process.send_signal(number)
        demo.process.wait(20)
    deadline = time.monotonic() + 20
    while any(_runs(pid) for pid in started) and time.monotonic() < deadline:
        time.sleep(0.02)

    assert not any(_runs(pid) for pid in started)
    assert folder.exists() is (number is signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def test_folder_that_has_modules_of_the_same_names(tmp_path: Path) -> None:
    """What lies about where the command is typed is not taken for parts of it."""
    (tmp_path / "exporter").mkdir()
    for name in ("exporter/__init__.py", "json.py", "signal.py"):
        (tmp_path / name).write_text("raise SystemExit(7)")
    with playing("--speed", "20", folder=tmp_path) as demo:
        demo.read_until("Seen: ")

    assert "Seen: TLS 1.3 consistent; TLS 1.2 consistent;" in demo.told


def _runs(pid: str) -> bool:
    """Tell whether a process runs; one that has ended may wait for its parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _look(browser: Browser, demo: Demo) -> None:
    forgotten = re.findall(r"127\.0\.0\.4:\d+", demo.told)[0]
    for view, picture in look_at_all(browser, demo.url):
        assert browser.overflow() <= 0, view
        assert browser.serious_faults() == [], view
        assert browser.complaints() == [], view
        assert len(picture) > 20_000, view
        if "target" in view.name:
            assert f"Against the majority: {forgotten}" in browser.text("#verdict")
            assert browser.count(".lane.one.odd") >= 1  # one for each version that the last round could judge
            assert forgotten in browser.text(".lane.one.odd")
            assert browser.count("#matrix .offer.against") >= 2
            assert browser.count("#keys rect.piece") > 10
        else:
            assert "split" in browser.text("#targets .row")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["--speed", "0"], '"0" is no speed; allowed: 0.1 to 100', id="no speed"),
        pytest.param(["--port", "http"], '"http" is no port; allowed: 0 to 65535', id="no port"),
    ],
)
def test_mistakes(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A word that makes no sense is told before anything is started."""
    with pytest.raises(SystemExit) as ended:
        main(["demo", *words])

    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    """One line says that somebody listens there, and how to go on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = main(["demo", "--port", str(port)])

    told = f"tlsprobe demo: port {port} of 127.0.0.1: Address already in use; `--port 0` takes any free one\n"
    assert (code, capsys.readouterr().err) == (2, told)


def test_reader_who_leaves() -> None:
    """A reader who has seen enough ends the demo without a complaint."""
    command = [str(Path(sys.executable).with_name("tlsprobe")), "demo", "--port", "0", "--speed", "20"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        assert demo.stdout.readline()
        demo.stdout.close()
        complaints = demo.stderr.read()

    assert (complaints, demo.returncode) == (b"", 141)
