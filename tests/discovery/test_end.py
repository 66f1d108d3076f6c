"""The daemon's end while what its sources ask hangs."""

import os
import signal
from pathlib import Path

from tests.daemon import running


def test_a_pipe_for_a_file(tmp_path: Path) -> None:
    """A pipe in a list's place makes its source fail and holds up no other, nor our end within two seconds."""
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "fleet.json").write_text('[{"targets": ["127.0.0.1:1"]}]')
    config = tmp_path / "config.yaml"
    config.write_text(
        "targets: []\nreference: {enabled: false}\n"
        "discover: [{name: pipe, file: pipe.json, refresh: 1s}, {name: fleet, file: fleet.json}]\n"
    )
    with running(tmp_path, ["--config", str(config)]) as daemon:
        daemon.wait_until(lambda: daemon.value("tlsprobe_source_failures_total", source="pipe") > 0, "failure")
        daemon.wait_until(lambda: daemon.value("tlsprobe_source_successful", source="fleet") == 1, "other list")
        took = daemon.end(signal.SIGTERM)

    assert daemon.process.returncode == 0
    assert took < 2
