"""Keeps what was measured in a Markdown file, so that its figures are never copied by hand."""

from collections.abc import Iterable

_BEGIN = "<!-- From here on written by tests.bench; each benchmark replaces its own section. -->\n"
_HEADING = "## "


def update(text: str, sections: Iterable[str]) -> str:
    """Replace the sections with the same headings behind the marker, or add them at the end.

    Args:
        text: the file so far; it must hold the marker.
        sections: each begins with a heading of the second level.

    Raises:
        ValueError: there is no marker.
    """
    head, marker, tail = text.partition(_BEGIN)
    if not marker:
        raise ValueError(f"the file has no line {_BEGIN.strip()}")
    kept = {_title(section): section for section in _split(tail)}
    for section in sections:
        kept[_title(section)] = section.strip() + "\n"
    return head + marker + "".join(f"\n{section}" for section in kept.values())


def _split(tail: str) -> list[str]:
    return [f"{_HEADING}{section.strip()}\n" for section in f"\n{tail}".split(f"\n{_HEADING}")[1:]]


def _title(section: str) -> str:
    return section.partition("\n")[0]
