"""What `tlsprobe check FILE` answers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from exporter.config.load import load
from exporter.config.problem import ConfigError, Problem
from exporter.config.settings import Config


@dataclass(frozen=True, slots=True)
class Lists:
    """What the lists of targets hold that a configuration names.

    Attributes:
        targets: how many could be read.
        problems: for which a list would not be taken up.
        warnings: what may be meant.
    """

    targets: int = 0
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()


def _unread(_config: Config) -> Lists:
    return Lists()


def check(path: Path, read_lists: Callable[[Config], Lists] = _unread) -> tuple[int, str]:
    """Return an exit code, 0 or 1, and what to print: `OK: 3 targets`, or all problems, one a line.

    Args:
        read_lists: reads the sources of more targets; without it they are counted and not asked.
    """
    try:
        config = load(path)
    except ConfigError as error:
        return 1, str(error)
    lists = read_lists(config)
    told = [*(f"warning: {warning}" for warning in lists.warnings), *map(str, lists.problems)]
    if lists.problems:
        return 1, "\n".join(told)
    sources = f", {_counted(len(config.discover), 'source')} of more" if config.discover else ""
    now = f" ({_counted(lists.targets, 'target')} in files now)" if lists.targets else ""
    return 0, "\n".join([*told, f"OK: {_counted(len(config.targets), 'target')}{sources}{now}"])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
