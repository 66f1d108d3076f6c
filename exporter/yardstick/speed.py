"""What the cipher alone costs by `openssl speed`, to hold our figures against."""

import re
import shutil
import subprocess

from exporter.model.yardstick import GIB

_BLOCK = 16384  # a full TLS record
_PATIENCE = 20.0
_RESULT = re.compile(r"^\+F:[^:]*:AES-256-GCM:([0-9.]+)\s*$", re.MULTILINE)


def ask_openssl(seconds: int, program: str = "openssl") -> float | None:
    """Return the processor seconds for each GiB by AES-256-GCM; None where the program is missing or tells nothing."""
    path = shutil.which(program)
    if path is None:
        return None
    words = [path, "speed", "-mr", "-seconds", str(seconds), "-bytes", str(_BLOCK), "-evp", "aes-256-gcm"]
    try:
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=_PATIENCE)  # noqa: S603 - ours
    except (OSError, subprocess.TimeoutExpired):
        return None
    return read_speed(done.stdout)


def read_speed(output: str) -> float | None:
    """Return the seconds for each GiB from the output for machines, which tells bytes a second."""
    found = _RESULT.search(output)
    rate = float(found[1]) if found else 0.0
    return GIB / rate if rate else None
