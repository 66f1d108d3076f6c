"""What `tlsprobe check FILE` answers."""

from pathlib import Path

from exporter.config.load import load
from exporter.config.problem import ConfigError


def check(path: Path) -> tuple[int, str]:
    """Return an exit code, 0 or 1, and what to print: `OK: 3 targets`, or all problems, one a line.

    Sources of more targets are counted and not asked: what they hold may come and go.
    """
    try:
        config = load(path)
    except ConfigError as error:
        return 1, str(error)
    sources = f", {_counted(len(config.discover), 'source')} of more" if config.discover else ""
    return 0, f"OK: {_counted(len(config.targets), 'target')}{sources}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
