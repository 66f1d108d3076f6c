"""What is wrong with a configuration: where it stands, what was found there and what is allowed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeAlias, TypeVar

Place: TypeAlias = tuple[str | int, ...]
"""Keys and positions that lead from the document's top to a value."""

MAX_PROBLEMS = 100
_SHOWN_CHARACTERS = 60
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,60}")

Raw = TypeVar("Raw")
Value = TypeVar("Value")


class RefusedError(Exception):
    """One value that is not allowed, raised by whoever knows the value and not its place.

    Args:
        found: what it is, in a few words.
        allowed: what it could be; empty where `found` says it all.
    """

    def __init__(self, found: str, allowed: str = "") -> None:
        super().__init__(found, allowed)
        self.found = found
        self.allowed = allowed


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake; as text `FILE:LINE: targets[0].interval: what was found; allowed: what is`.

    Attributes:
        place: the path in the document, empty for the document as a whole.
        line: counted from 1, None where it is not known.
    """

    source: str
    line: int | None
    place: str
    found: str
    allowed: str = ""

    def __str__(self) -> str:
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        place = f" {self.place}:" if self.place else ""
        allowed = f"; allowed: {self.allowed}" if self.allowed else ""
        return _visible(f"{where}:{place} {self.found}{allowed}")  # names of files may hold any character


class ConfigError(Exception):
    """A configuration that cannot be used, with all that is wrong with it."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class Findings:
    """The problems of one document, gathered while it is read, so that all are told at once.

    Attributes:
        lines: the line of each value, filled in while the document is composed.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[Place, int] = {}
        self._problems: list[Problem] = []
        self._refused: set[Place] = set()
        self._touched: set[Place] = set()

    def add(self, place: Place, found: str, allowed: str = "", line: int | None = None) -> None:
        """Note a mistake; after a hundred of them ConfigError is raised at once."""
        self._problems.append(Problem(self.source, line or self._line(place), spell(place), found, allowed))
        self._refused.add(place)
        self._touched.update(place[:end] for end in range(1, len(place) + 1))
        if len(self._problems) == MAX_PROBLEMS:
            self._problems.append(Problem(self.source, None, "", "too many problems, the rest is left out"))
            self.conclude()

    def stop(self, found: str, allowed: str = "", line: int | None = None) -> NoReturn:
        """Note a mistake after which nothing more can be read, and raise ConfigError."""
        self._problems.append(Problem(self.source, line, "", found, allowed))
        raise ConfigError(self._sorted())

    def refused(self, place: Place) -> bool:
        """Return whether a problem was found at the place, inside it, or with something that it is a part of."""
        return place in self._touched or any(place[:end] in self._refused for end in range(len(place)))

    def read(self, place: Place, parse: Callable[[Raw], Value], raw: Raw, fallback: Value) -> Value:
        """Return the parsed value, or the fallback if it is refused now or was before."""
        if self.refused(place):
            return fallback
        try:
            return parse(raw)
        except RefusedError as refusal:
            self.add(place, refusal.found, refusal.allowed)
            return fallback

    def conclude(self) -> None:
        """Raise ConfigError if there was any problem."""
        if self._problems:
            raise ConfigError(self._sorted())

    def _sorted(self) -> tuple[Problem, ...]:
        """Return the problems in the order of their lines, those without one at the end."""
        return tuple(sorted(self._problems, key=lambda problem: (problem.line is None, problem.line or 0)))

    def _line(self, place: Place) -> int | None:
        return next((self.lines[place[:end]] for end in range(len(place), -1, -1) if place[:end] in self.lines), None)


def spell(place: Place) -> str:
    """Return a place as people write it, such as `targets[0].tls.versions[1]`."""
    return "".join(map(_step, place)).removeprefix(".")


def _step(step: str | int) -> str:
    if isinstance(step, str) and _PLAIN_KEY.fullmatch(step):
        return f".{step}"
    return f"[{show(step)}]"


def show(value: object) -> str:
    """Return what was found in a document, in one short line without control characters."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return f'"{_plain(value)}"'
        case Mapping():
            return "a mapping"
        case list():
            return "a list"
        case _:
            return f"{value}"


def _plain(text: str) -> str:
    short = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
    return _visible(short)


def _visible(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
