"""What scalars mean by the core schema of YAML 1.2: `off` and `yes` are words, `1:30` is no number."""

import re
from typing import TypeAlias

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | float | bool | None"

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_REAL = re.compile(r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,2})?")


def resolve(text: str) -> Tree:
    """Return what an unquoted scalar means by YAML 1.2's core schema (section 10.3.2), numbers in base 10 alone."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _REAL.fullmatch(text) else text
