"""The daemon as its users run it."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.daemon import TLSPROBE, Daemon, running
from tests.servers import fleet, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.ticket_keys import write_ticket_key

NSS_WRAPPER = Path("/usr/lib/x86_64-linux-gnu/libnss_wrapper.so")


def test_reference_alone(tmp_path: Path) -> None:
    """Without a configuration the reference is probed: histograms and counters grow, and it is found as it is."""
    with running(tmp_path) as daemon:
        daemon.wait_until(lambda: daemon.value("tlsprobe_reference_ok") == 1, "verdict on the reference")
        daemon.wait_until(lambda: daemon.value("tlsprobe_rounds_total") >= 2, "second round", 30)
        for mode in ("full", "resumed"):
            assert daemon.value("tlsprobe_handshake_duration_seconds_count", mode=mode, target="reference") >= 4
        assert daemon.value("tlsprobe_resumptions_total") == daemon.value("tlsprobe_resumption_attempts_total") > 0
        assert daemon.value("tlsprobe_ticket_key_state", state="consistent") == 2
        assert daemon.get("/-/ready")[0] == 200
        _check_with_promtool(daemon)


@pytest.mark.servers("promtool")
def _check_with_promtool(daemon: Daemon) -> None:
    promtool = shutil.which("promtool")
    assert promtool is not None
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=daemon.get("/metrics")[1], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_end(tmp_path: Path, number: int) -> None:
    """A signal ends it within two seconds, with nothing left behind."""
    with running(tmp_path) as daemon:
        daemon.wait_until(lambda: len(daemon.children) == 1, "reference's process")
        (child,) = daemon.children
        took = daemon.end(number)

    assert daemon.process.returncode == 0
    assert took < 2
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.servers("nginx")
def test_name_with_three_addresses(
    tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority, hosts: "Hosts"
) -> None:
    """Every address of a name is a backend, and one that vanishes from it takes its series along."""
    where = fleet.addresses(ports.claim())
    settings = [Settings(leaf=leaf, ticket_keys=(write_ticket_key(tmp_path, "one"),))] * 3
    hosts.write(*(address.host for address in where))
    config = tmp_path / "config.yaml"
    config.write_text(
        f"""\
targets:
  - name: site
    address: site.test:{where[0].port}
    tls: {{ca_file: {authority.file}}}
    interval: 1s
    timeout: 1s
reference: {{enabled: false}}
"""
    )
    with (
        fleet.start(nginx.start, tmp_path / "fleet", where, settings),
        running(tmp_path, ("--config", str(config)), hosts.environment) as daemon,
    ):
        daemon.wait_until(lambda: daemon.value("tlsprobe_backends", target="site") == 3, "three backends")
        daemon.wait_until(
            lambda: daemon.value("tlsprobe_ticket_key_state", state="consistent") == 2, "verdict for both versions"
        )
        hosts.write(where[0].host, where[1].host)
        daemon.wait_until(lambda: daemon.value("tlsprobe_backends", target="site") == 2, "vanished backend")

        backends = {sample.labels["backend"] for sample in daemon.samples() if "backend" in sample.labels}
        assert {str(address) for address in where[:2]} == backends


class Hosts:
    """A hosts file of the test's own, in which site.test is looked up."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.environment = {"LD_PRELOAD": str(NSS_WRAPPER), "NSS_WRAPPER_HOSTS": str(file)}

    def write(self, *hosts: str) -> None:
        """Let site.test stand for these addresses."""
        self._file.write_text("".join(f"{host} site.test\n" for host in hosts))


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    """A hosts file; without libnss-wrapper there is no way to have one without touching the machine's."""
    if not NSS_WRAPPER.exists():
        if os.environ.get("TLSPROBE_REQUIRE_SERVERS") == "1":
            pytest.fail("libnss-wrapper is not installed", pytrace=False)
        pytest.skip("libnss-wrapper is not installed; tests/setup.sh installs it")
    return Hosts(tmp_path / "hosts")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        pytest.param(["check", "config.example.yaml"], 0, "OK: ", id="check, good"),
        pytest.param(["check", "tests/config/bad/interval-below-timeout.yaml"], 1, "allowed", id="check, bad"),
        pytest.param(["check", "nowhere.yaml"], 1, "nowhere.yaml", id="check, no such file"),
        pytest.param(["schema"], 0, '"$schema"', id="schema"),
        pytest.param(["run", "--config", "nowhere.yaml"], 1, "nowhere.yaml", id="run, no such file"),
        pytest.param(["run", "--web.listen-address", "nonsense"], 1, "nonsense", id="run, bad address"),
        pytest.param(["probe", "127.0.0.1:1"], 2, "connection refused", id="probe, nobody there"),
        pytest.param(["probe", "site:http"], 2, "site:http", id="probe, bad address"),
        pytest.param(
            ["run", "--web.listen-address", "banana"],
            1,
            '--web.listen-address: "banana" has no port; allowed: HOST:PORT',
            id="run, address without a port",
        ),
        pytest.param(["probe", "127.0.0.1:1", "--json", "--watch"], 2, "--json cannot be used", id="probe, ignored"),
        pytest.param(["--version"], 0, "tlsprobe ", id="version"),
    ],
)
def test_commands(words: list[str], code: int, told: str) -> None:
    """Each command ends with the exit code that its help names, and says why."""
    ended = subprocess.run([*TLSPROBE, *words], capture_output=True, text=True, check=False, timeout=30)

    assert ended.returncode == code, ended.stderr
    assert told in ended.stdout + ended.stderr


@pytest.mark.parametrize("words", [["check"], ["run", "--config"], ["probe", "shop", "--config"]], ids=" ".join)
def test_missing_file_is_named_once(words: list[str]) -> None:
    """A configuration that is not there is said in one short line."""
    ended = subprocess.run([*TLSPROBE, *words, "no.yaml"], capture_output=True, text=True, check=False, timeout=30)

    assert ended.stderr == "no.yaml: no such file; allowed: a readable file\n"


@pytest.mark.parametrize("words", [["schema"], ["probe", "127.0.0.1:1"], ["--help"]], ids=" ".join)
def test_reader_that_went_away(words: list[str]) -> None:
    """A pipe whose reader has left ends the command quietly."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [*TLSPROBE, *words], stdout=writing, stderr=subprocess.PIPE, check=False, timeout=30, env=buffered
        )
    finally:
        os.close(writing)

    assert (ended.returncode, ended.stderr) == (141, b"")


def test_port_in_use(tmp_path: Path) -> None:
    """An address that is taken is named, and the second exporter ends by itself."""
    with running(tmp_path) as daemon:
        words = ["run", "--web.listen-address", f"127.0.0.1:{daemon.port}"]
        ended = subprocess.run([*TLSPROBE, *words], capture_output=True, text=True, check=False, timeout=30)

    assert ended.returncode == 1
    assert f"127.0.0.1:{daemon.port}" in ended.stderr
