"""The systemd unit, by systemd's own word."""

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

UNIT = Path("deploy/systemd/tlsprobe.service")
MOST_EXPOSED = 1.5  # of 10, by `systemd-analyze security`
analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
_PR_SET_MDWE, _PR_GET_MDWE = 65, 66  # linux/prctl.h, from Linux 6.3 on


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


@pytest.mark.skipif(ctypes.CDLL(None).prctl(_PR_GET_MDWE, 0, 0, 0, 0) < 0, reason="the kernel cannot refuse it")
def test_memory_becomes_code_only_where_it_must() -> None:
    """The unit refuses memory that is both written and run just if the library that asks for staples does without."""
    code = f"""
import ctypes
from OpenSSL import SSL
context = SSL.Context(SSL.TLS_METHOD)
ctypes.CDLL(None).prctl({_PR_SET_MDWE}, 1, 0, 0, 0)
context.set_ocsp_client_callback(lambda *_: True)
"""
    found = subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, timeout=30, check=False)
    refused = re.search(r"^MemoryDenyWriteExecute=yes$", UNIT.read_text(), re.MULTILINE)

    assert (found.returncode == 0) is (refused is not None)
