"""Problems in the words of whoever typed the command."""

from pathlib import Path

from exporter.config.problem import Problem, RefusedError


def blame(option: str, refusal: RefusedError | Problem) -> Problem:
    """Return a problem of an option, which has no line: `--option: what was found; allowed: what is`."""
    return Problem(option, None, "", refusal.found, refusal.allowed)


def say_once(problems: str, file: Path | None) -> str:
    """Return problems with a configuration without its file's name a second time, where that cannot be read at all."""
    twice = f"{file}: {file}"
    return problems.removeprefix(f"{file}: ") if problems.startswith(twice) else problems
