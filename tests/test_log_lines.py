"""What the daemon writes down of a fleet, and of signals."""

import fcntl
import json
import os
import signal
from pathlib import Path

import pytest

from tests.daemon import Daemon, running
from tests.servers import fleet, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports
from tests.servers.ticket_keys import write_ticket_key


def lines(daemon: Daemon) -> list[dict[str, object]]:
    """Return the log's lines so far."""
    return [json.loads(line) for line in daemon.log.read_text().splitlines()]


def rounds(daemon: Daemon) -> list[dict[str, object]]:
    """Return those of rounds."""
    return [line for line in lines(daemon) if line["msg"] == "round"]


@pytest.mark.servers("nginx")
def test_standing_fault_is_a_warning(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """Each round of a split is a warning that names the backend and says what to do; a mended fleet is none."""
    where = fleet.addresses(ports.claim())
    one, two = (Settings(leaf=leaf, ticket_keys=(write_ticket_key(tmp_path, name),)) for name in ("one", "two"))
    config = tmp_path / "config.yaml"
    config.write_text(
        f"""\
defaults: {{interval: 1s, timeout: 1s}}
targets:
  - name: site
    address: site.test:{where[0].port}
    backends: [{", ".join(f'"{address}"' for address in where)}]
    tls: {{ca_file: {authority.file}}}
reference: {{enabled: false}}
log: {{format: json}}
"""
    )
    with (
        fleet.start(nginx.start, tmp_path / "fleet", where, [one, one, two]) as servers,
        running(tmp_path, ("--config", str(config))) as daemon,
    ):
        daemon.wait_until(lambda: len(rounds(daemon)) >= 2, "two rounds")
        split = rounds(daemon)
        servers[2].reload(one)
        daemon.wait_until(lambda: rounds(daemon)[-1]["level"] == "info", "calm round")

    for line in split:
        assert "warning" == line["level"]
        assert ("split", "split") == (line["tls1.2"], line["tls1.3"])
        assert str(where[2]) == line["odd"]
        assert "ssl_session_ticket_key" in str(line["advice"])
    assert "findings" not in rounds(daemon)[-1]


def test_hangup(tmp_path: Path) -> None:
    """Without a configuration, SIGHUP ends nothing and says that it does nothing."""
    with running(tmp_path) as daemon:
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_until(lambda: "SIGHUP changes nothing" in daemon.log.read_text(), "word on the signal")
        assert 200 == daemon.get("/-/healthy")[0]


def test_nobody_reads_the_log(tmp_path: Path) -> None:
    """A log collector that stalls holds up neither the probing nor the web side nor the end."""
    config = tmp_path / "config.yaml"
    targets = "".join(
        f"  - {{name: t{number}, address: '127.0.0.1:1', interval: 1s, timeout: 1s}}\n" for number in range(5)
    )
    config.write_text(f"targets:\n{targets}reference: {{enabled: false}}\n")
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    try:
        with running(tmp_path, ("--config", str(config)), output=writer) as daemon:
            daemon.wait_until(lambda: daemon.value("tlsprobe_rounds_total", target="t0") >= 12, "twelfth round", 30)
            assert 200 == daemon.get("/-/healthy")[0]
            assert daemon.end() < 2
    finally:
        os.close(reader)
        os.close(writer)

    assert 0 == daemon.process.returncode


@pytest.mark.servers("nginx")
def test_what_resumed_connections_are_answered(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """An application that turns resumed connections away is told of as such, with both statuses."""
    (where,) = fleet.addresses(ports.claim(), 1)
    turned_away = Settings(
        leaf=leaf, server="location = / { if ($ssl_session_reused = r) { return 421; } return 204; }"
    )
    config = tmp_path / "config.yaml"
    config.write_text(
        f"""\
defaults: {{interval: 1s, timeout: 1s}}
targets:
  - name: site
    address: site.test:{where.port}
    backends: ["{where}"]
    tls: {{ca_file: {authority.file}, versions: ["1.3"]}}
reference: {{enabled: false}}
log: {{format: json}}
"""
    )
    with (
        nginx.start(tmp_path / "server", where, turned_away),
        running(tmp_path, ("--config", str(config))) as daemon,
    ):
        daemon.wait_until(lambda: any("asides" in line for line in rounds(daemon)), "mismatch", 30.0)
        last = next(line for line in rounds(daemon) if "asides" in line)

    assert "warning" == last["level"]
    assert f"{where} answers 421 over resumed connections, and 204 over those of full handshakes" == last["asides"]
    assert isinstance(last["connections"], int)
