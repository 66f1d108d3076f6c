"""Output that nobody can take."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.daemon import TLSPROBE

WAVE = ["wave", "--clients", "9", "--ceiling", "9", "--servers", "1"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(WAVE, id="little"),
        pytest.param([*WAVE, "--json", "--windows", ",".join(map(str, range(1, 999)))], id="more than a buffer"),
    ],
)
def test_full_device(words: list[str], unbuffered: str) -> None:
    """A full device is told in a sentence, with an exit code that is not taken for a finding."""
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*TLSPROBE, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
            env=environment,
        )

    assert "tlsprobe: cannot write: No space left on device; make room, or send the output elsewhere\n" == done.stderr
    assert done.returncode == 2
