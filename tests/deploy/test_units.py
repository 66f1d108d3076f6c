"""The systemd unit, by systemd's own word."""

import ctypes
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.daemon import running
from tests.servers import fleet, nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports

UNIT = Path("deploy/systemd/tlsprobe.service")
MOST_EXPOSED = 1.5  # of 10, by `systemd-analyze security`
analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
_PR_SET_MDWE, _PR_GET_MDWE = 65, 66  # linux/prctl.h, from Linux 6.3 on
_REFUSE_AND_BECOME = f"""
import ctypes, os, sys
if not ctypes.CDLL(None).prctl({_PR_SET_MDWE}, 1, 0, 0, 0):
    os.execv(sys.argv[1], sys.argv[1:])
"""
_REFUSE = (sys.executable, "-c", _REFUSE_AND_BECOME)
"""Becomes the command whose words follow, to which no memory is given that is both written and run."""
refusing = pytest.mark.skipif(
    ctypes.CDLL(None).prctl(_PR_GET_MDWE, 0, 0, 0, 0) < 0, reason="the kernel cannot refuse memory"
)


@analyze
def test_the_unit_is_sound(tmp_path: Path) -> None:
    """`systemd-analyze verify` has nothing to say, once the command is there."""
    program = tmp_path / "tlsprobe"
    program.write_text("#!/bin/true\n")
    program.chmod(0o755)
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/usr/local/bin/tlsprobe", str(program)))
    found = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False)

    assert (0, "") == (found.returncode, found.stdout + found.stderr)


@analyze
def test_the_unit_is_locked_up() -> None:
    """Little is left by which it could do harm."""
    words = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(UNIT)]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    level = re.search(r"Overall exposure level for \S+: ([\d.]+)", found.stdout)

    assert level is not None, found.stdout + found.stderr
    assert float(level[1]) <= MOST_EXPOSED


@refusing
def test_memory_becomes_code_only_where_it_must() -> None:
    """The unit refuses memory that is both written and run just if the library that asks for staples does without."""
    code = "from OpenSSL import SSL; SSL.Context(SSL.TLS_METHOD).set_ocsp_client_callback(lambda *_: True)"
    words = [*_REFUSE, sys.executable, "-c", code]
    found = subprocess.run(words, stderr=subprocess.DEVNULL, timeout=30, check=False)
    refused = re.search(r"^MemoryDenyWriteExecute=yes$", UNIT.read_text(), re.MULTILINE)

    assert (found.returncode == 0) is (refused is not None)


@refusing
@pytest.mark.servers("nginx")
def test_probing_goes_on_where_staples_cannot_be_asked_for(
    tmp_path: Path, ports: Ports, leaf: Leaf, authority: Authority
) -> None:
    """Where such memory is refused, one line says what to do, once for all backends, and only staples are missing."""
    where = fleet.addresses(ports.claim())
    config = tmp_path / "config.yaml"
    backends = ", ".join(f'"{address}"' for address in where)
    config.write_text(f"""
defaults: {{interval: 1s, timeout: 1s}}
targets:
  - {{name: site, address: "site.test:{where[0].port}", backends: [{backends}], tls: {{ca_file: {authority.file}}}}}
reference: {{enabled: false}}
log: {{format: json}}
""")
    with (
        fleet.start(nginx.start, tmp_path / "fleet", where, [nginx.Settings(leaf=leaf)] * len(where)),
        running(tmp_path, ("--config", str(config)), ahead=_REFUSE) as daemon,
    ):
        daemon.wait_until(lambda: daemon.value("tlsprobe_rounds_total", target="site") >= 2, "two rounds")
        names = {sample.name for sample in daemon.samples()}
        lines = [json.loads(line) for line in daemon.log.read_text().splitlines()]
    told = [line["error"] for line in lines if line["msg"] == "stapled OCSP answers cannot be asked for"]

    assert 1 == len(told)
    assert "MemoryDenyWriteExecute=no" in told[0]
    assert "probe.staple" in told[0]
    assert not [line for line in lines if line["level"] == "error"]
    assert "tlsprobe_certificate_not_after_timestamp_seconds" in names
    assert "tlsprobe_ocsp_stapled" not in names
