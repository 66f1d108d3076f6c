"""The words of `tlsprobe` about the web side."""

import shutil
import subprocess
from pathlib import Path

import pytest

from exporter.cli import main
from tests.daemon import running
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.web.locks import PASSWORD, USERS, tls, write_lock


@pytest.mark.servers("curl", "promtool")
def test_a_locked_daemon(tmp_path: Path, leaf: Leaf, authority: Authority, ports: Ports) -> None:
    """The daemon serves its metrics to whoever has the password, and its health to everybody."""
    lock, health = write_lock(tmp_path, tls(leaf), USERS), ports.claim()
    words = ["--web.config.file", str(lock), "--web.health-address", f"127.0.0.1:{health}"]
    with running(tmp_path, [*words, "--web.external-url", "https://site.test/probe/"]) as daemon:
        url = f"https://127.0.0.1:{daemon.port}/probe/metrics"
        curl = ["curl", "-sS", "-m", "10", "--cacert", str(authority.file)]
        scraped = subprocess.run([*curl, "-u", f"alice:{PASSWORD}", url], capture_output=True, check=True, timeout=20)
        refused = subprocess.run([*curl, "-f", url], capture_output=True, check=False, timeout=20)
        healthy = subprocess.run(
            [*curl, f"http://127.0.0.1:{health}/-/healthy"], capture_output=True, check=True, timeout=20
        )

    assert b"tlsprobe_build_info" in scraped.stdout
    assert refused.returncode == 22
    assert healthy.stdout == b"healthy\n"
    promtool = shutil.which("promtool") or "promtool"
    checked = subprocess.run([promtool, "check", "metrics"], input=scraped.stdout, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(
            ["--web.health-address", "x"],
            '--web.health-address: "x" has no port; allowed: HOST:PORT or :PORT, such as :10507',
            id="health without a port",
        ),
        pytest.param(
            ["--web.listen-address", "unix:web.sock"],
            '--web.listen-address: "unix:web.sock" is no socket file; allowed: unix:/PATH of up to 107 bytes',
            id="a socket file somewhere",
        ),
        pytest.param(
            ["--web.external-url", "site.test"],
            '--web.external-url: "site.test" is no URL that pages can have; '
            "allowed: http:// or https://, a host, and a port and a path where there are any",
            id="no URL",
        ),
        pytest.param(
            ["--web.route-prefix", "/a b"],
            '--web.route-prefix: "/a b" is no path; allowed: a path such as /tlsprobe',
            id="no path",
        ),
        pytest.param(
            ["--web.config.file", "nowhere.yml"],
            "nowhere.yml: no such file; allowed: a readable file",
            id="no such file",
        ),
        pytest.param(
            ["--web.systemd-socket"],
            "cannot listen on sockets of systemd: it has handed over none",
            id="not started by systemd",
        ),
    ],
)
def test_mistakes(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A word that cannot be used ends the daemon before it begins, and is told as it was typed."""
    assert main(["run", *words]) == 1
    assert capsys.readouterr().err == f"{told}\n"


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        pytest.param(USERS, 0, "", id="good"),
        pytest.param(
            "rate_limit: {burst: -1}",
            1,
            "{file}:1: rate_limit.burst: found -1; allowed: a whole number from 0 to 1000000\n",
            id="bad",
        ),
    ],
)
def test_check(tmp_path: Path, text: str, code: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Both files can be checked together."""
    file = write_lock(tmp_path, text)
    assert main(["check", "config.example.yaml", "--web.config.file", str(file)]) == code
    out, complaints = capsys.readouterr()
    assert complaints == told.format(file=file)
    assert ("\nOK: " in f"\n{out}") is (code == 0)
