"""The composition: every file that it mounts is there, and its parts find each other."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers.process import find_program

FOLDER = Path("deploy/compose")
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]


def mounts(service: str) -> dict[str, Path]:
    """Return what of ours is where in a service."""
    pairs = (mount.split(":") for mount in SERVICES[service]["volumes"] if mount.startswith("."))
    return {inside: FOLDER / outside for outside, inside, *_ in pairs}


@pytest.mark.parametrize("service", SERVICES)
def test_what_is_mounted_is_there(service: str) -> None:
    """A file that is missing would become an empty folder."""
    assert not [path for path in mounts(service).values() if not path.exists()]


@pytest.mark.parametrize("service", SERVICES)
def test_nobody_else_can_reach_it(service: str) -> None:
    """Grafana asks for no password here, so ports are open on loopback alone."""
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[service]["ports"])


def test_the_exporter_is_built_from_this_source_and_locked_up() -> None:
    """The build's folder has the Dockerfile, and the container has no right that it does not need."""
    exporter = SERVICES["exporter"]

    assert (FOLDER / exporter["build"] / "Dockerfile").exists()
    assert exporter["read_only"] is True
    assert ["ALL"] == exporter["cap_drop"]
    assert not {"cpus", "cpu_quota"} & set(exporter)


@pytest.mark.servers("promtool")
def test_prometheus_takes_its_configuration(tmp_path: Path) -> None:
    """With the files where they are in the container, promtool finds the rules and no mistake."""
    for inside, outside in mounts("prometheus").items():
        target = tmp_path / inside[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        if outside.is_dir():
            shutil.copytree(outside, target)
        else:
            shutil.copy(outside, target)
    words = [find_program("promtool"), "check", "config", str(tmp_path / "etc/prometheus/prometheus.yml")]
    found = subprocess.run(words, capture_output=True, text=True, check=False)

    assert 0 == found.returncode, found.stderr
    assert 2 == found.stdout.count("rules found")


def test_grafana_finds_prometheus_and_the_dashboards() -> None:
    """The data source is the service's name and port, and dashboards are read where they are mounted."""
    folder = FOLDER / "grafana/provisioning"
    (source,) = yaml.safe_load((folder / "datasources/prometheus.yaml").read_text())["datasources"]
    (provider,) = yaml.safe_load((folder / "dashboards/tlsprobe.yaml").read_text())["providers"]

    assert "http://prometheus:9090" == source["url"]
    assert provider["options"]["path"] in mounts("grafana")
