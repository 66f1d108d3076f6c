"""What a rule's expression names: metrics, labels, and the values that labels are compared with."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR = re.compile(r"(?<![\w:])(tlsprobe_\w+)(?![\w:])(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|%q)')
_LISTS = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_NUMBERS = re.compile(r"(?<![\w.:])\d+(?:\.\d+)?(?![\w.:])")


@dataclass(frozen=True, slots=True)
class Selector:
    """A metric of ours in an expression, with what its labels are compared with."""

    metric: str
    matchers: tuple[tuple[str, str], ...] = ()


def selectors(expression: str) -> Iterator[Selector]:
    """Yield every metric of ours; recorded series have colons in their names and are none."""
    for metric, matchers in _SELECTOR.findall(expression):
        yield Selector(metric, tuple((label, value.strip('"')) for label, value in _MATCHER.findall(matchers)))


def listed_labels(expression: str) -> frozenset[str]:
    """Return the labels in all lists of the expression: by, without, on, and the like."""
    return frozenset(label for labels in _LISTS.findall(expression) for label in re.findall(r"\w+", labels))


def recorded(expression: str) -> frozenset[str]:
    """Return the names of recorded series in an expression."""
    return frozenset(re.findall(r"[a-z_]+:\w+:\w+", _STRINGS.sub("", expression)))


def numbers(expression: str) -> frozenset[str]:
    """Return the numbers in an expression, durations left out."""
    return frozenset(_NUMBERS.findall(_STRINGS.sub("", expression)))
