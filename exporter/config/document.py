"""From YAML text to plain values with the line of each, within bounds that no text can break.

Scalars follow the core schema of YAML 1.2: `off` and `yes` are words, `1:30` is no number. Duplicate keys are refused.
Aliases are allowed as far as the document that they stand for stays small.
"""

import re
from typing import TypeAlias

from exporter.config.problem import Findings

MAX_BYTES = 4 << 20
MAX_VALUES = 400_000
MAX_DEPTH = 20

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | float | bool | None"

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_REAL = re.compile(r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,2})?")


def compose(text: str, findings: Findings) -> Tree:
    """Return the document's values, and note the line of each in `findings`.

    Raises:
        ConfigError: the text is no YAML, holds several documents, or is larger or deeper than a configuration can be.
    """
    if len(text) > MAX_BYTES:
        findings.stop("the file is too large", "at most 4 MiB")
    from exporter.config.composer import compose_events  # noqa: PLC0415 - PyYAML takes a MiB

    return compose_events(text, findings)


def resolve(text: str) -> Tree:
    """Return what an unquoted scalar means by YAML 1.2's core schema (section 10.3.2), numbers in base 10 alone."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _REAL.fullmatch(text) else text
