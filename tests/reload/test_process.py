"""The daemon's configuration changes under it."""

import json
import os
import signal
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest

from exporter.discovery.shard import Shard
from exporter.model.target import Endpoint, Target
from tests.daemon import Daemon, running
from tests.servers import fleet, nginx
from tests.servers.certificates import SERVER_NAME, Authority, Leaf
from tests.servers.nginx import Settings
from tests.servers.ports import Ports

_REST = "reference: {enabled: false}\nlog: {format: json}\n"


def told(daemon: Daemon, message: str) -> list[dict[str, object]]:
    """Return the log's lines with this message."""
    lines = (json.loads(line) for line in daemon.log.read_text().splitlines())
    return [line for line in lines if line["msg"] == message]


def names(daemon: Daemon) -> set[str]:
    """Return the targets that have series."""
    return {one.labels["target"] for one in daemon.samples() if "target" in one.labels}


def text(*targets: str, rest: str = _REST) -> str:
    """Return a configuration with targets that nobody answers for."""
    lines = "".join(f"  - {{name: {name}, address: '127.0.0.1:1', interval: 1s, timeout: 1s}}\n" for name in targets)
    return f"targets:\n{lines}{rest}"


def test_ways_to_reload(tmp_path: Path) -> None:
    """A signal, a request and a changed file each bring targets in and out, and a broken file changes but the gauge."""
    config = tmp_path / "config.yaml"
    config.write_text(text("a"))
    with running(tmp_path, ("--config", str(config), "--web.enable-lifecycle")) as daemon:
        daemon.wait_until(lambda: daemon.value("tlsprobe_rounds_total", target="a") >= 1, "first round")

        config.write_text(text("a", "b"))
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_until(lambda: names(daemon) == {"a", "b"}, "target after the signal")

        config.write_text(text("b", "c"))
        url = f"http://127.0.0.1:{daemon.port}/-/reload"
        with urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=5) as answer:
            assert answer.status == 200
        assert names(daemon) == {"b", "c"}
        assert daemon.value("tlsprobe_shard_targets") == daemon.value("tlsprobe_targets") == 2

        config.write_text(text("b", "b"))
        daemon.wait_until(lambda: daemon.value("tlsprobe_config_last_reload_successful") == 0, "failure in the gauge")
        assert names(daemon) == {"b", "c"}
        (refused,) = told(daemon, "configuration not taken up, the one before it holds")
        assert 'targets[1].name: "b" is the name of targets[0] too' in str(refused["problem"])

        config.write_text(text("d", rest="reference: {enabled: true}\nlog: {format: json, level: warning}\n"))
        daemon.wait_until(lambda: names(daemon) == {"d"}, "target of the changed file")
        assert daemon.value("tlsprobe_config_last_reload_successful") == 1
        (fixed,) = told(daemon, "a changed setting waits for a restart")
        assert fixed["setting"] == "reference"
        assert not [line for line in told(daemon, "targets changed") if "d" in str(line.get("begun"))]


@pytest.mark.parametrize("index", [0, 1])
def test_shard(tmp_path: Path, index: int) -> None:
    """Each of two shards probes its part, and both know of all."""
    targets = [f"t{number}" for number in range(10)]
    config = tmp_path / "config.yaml"
    config.write_text(text(*targets))
    with running(tmp_path, ("--config", str(config), "--shard", f"{index}/2")) as daemon:
        daemon.wait_until(lambda: daemon.value("tlsprobe_targets") == len(targets), "configuration")
        own = names(daemon)
        assert daemon.value("tlsprobe_shard_info", index=str(index), count="2") == 1
        assert daemon.value("tlsprobe_shard_targets") == len(own)

    assert own == {target.name for target in Shard(index, 2).choose([_named(name) for name in targets])}
    assert 0 < len(own) < len(targets)


def _named(name: str) -> Target:
    return Target(name, Endpoint("127.0.0.1", 1), "127.0.0.1")


@pytest.mark.servers("nginx")
def test_renewed_trust(tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority) -> None:
    """A CA that changes on disk is trusted without a restart; counters and what is known of keys stay."""
    where = fleet.addresses(ports.claim(), 2)
    stranger = Authority.create(tmp_path, datetime.now(UTC), "Another authority")
    ca, config = tmp_path / "trusted.pem", tmp_path / "config.yaml"
    ca.write_bytes(authority.file.read_bytes())
    config.write_text(
        f"targets:\n  - {{name: site, address: '{SERVER_NAME}:{where[0].port}', interval: 1s, timeout: 1s, "
        f"backends: [{', '.join(repr(str(address)) for address in where)}], tls: {{ca_file: trusted.pem}}}}\n{_REST}"
    )
    with (
        fleet.start(nginx.start, tmp_path / "fleet", where, [Settings(leaf=leaf)] * 2),
        running(tmp_path, ("--config", str(config))) as daemon,
    ):
        daemon.wait_until(lambda: daemon.value("tlsprobe_success", target="site") == 2, "success")
        daemon.wait_until(lambda: daemon.value("tlsprobe_resumptions_total", origin="self") >= 4, "resumptions")
        rounds, seen = daemon.value("tlsprobe_rounds_total"), daemon.value("tlsprobe_ticket_keys_seen")
        replacement = tmp_path / "replacement.pem"
        replacement.write_bytes(stranger.file.read_bytes())
        os.replace(replacement, ca)  # noqa: PTH105 -- as whoever renews certificates does it
        daemon.wait_until(lambda: daemon.value("tlsprobe_success", target="site") == 0, "distrust")
        assert daemon.value("tlsprobe_rounds_total") > rounds
        assert daemon.value("tlsprobe_ticket_keys_seen") == seen
        ca.write_bytes(authority.file.read_bytes())
        daemon.wait_until(lambda: daemon.value("tlsprobe_success", target="site") == 2, "trust")
        assert daemon.value("tlsprobe_ticket_key_changes_total") == 0
        assert daemon.value("tlsprobe_ticket_key_breaks_total") == 0
