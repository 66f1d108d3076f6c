"""What `tlsprobe check FILE` answers."""

from pathlib import Path

from exporter.config.load import load
from exporter.config.problem import ConfigError


def check(path: Path) -> tuple[int, str]:
    """Return an exit code, 0 or 1, and what to print: `OK: 3 targets`, or all problems, one a line."""
    try:
        count = len(load(path).targets)
    except ConfigError as error:
        return 1, str(error)
    return 0, f"OK: {count} target{'' if count == 1 else 's'}"
