"""The events of PyYAML's parser, composed to plain values."""

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from exporter.config.problem import Findings, Place
from exporter.config.scalars import Tree, resolve

MAX_VALUES = 400_000
MAX_DEPTH = 20

_Loader: "type[yaml.SafeLoader | yaml.CSafeLoader]" = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STRING_TAGS = (None, "!", "tag:yaml.org,2002:str")


def compose_events(text: str, findings: Findings) -> Tree:
    """Return the values of a text that is no longer than a document may be.

    Raises:
        ConfigError: the text is no YAML, holds several documents, or is larger or deeper than a configuration can be.
    """
    composer = _Composer(findings)
    for event in _events(text, findings):
        composer.take(event)
    return composer.tree


def _events(text: str, findings: Findings) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        if mark and "\t" in _indent(text, mark.line):
            findings.stop("a tab in the indentation", "spaces", line)
        findings.stop(f"this is not YAML ({error.problem or error.context})", line=line)
    except (yaml.YAMLError, ValueError, OverflowError):
        findings.stop("this is not YAML: it holds characters that are no text", "UTF-8 text")


def _indent(text: str, line: int) -> str:
    lines = text.splitlines()[line : line + 1]
    return lines[0][: len(lines[0]) - len(lines[0].lstrip())] if lines else ""


@dataclass(slots=True)
class _Value:
    """A finished value, with how many values and levels it holds."""

    value: Tree
    size: int = 1
    depth: int = 1


class _Branch:
    """A list or mapping that is still open."""

    def __init__(self, event: yaml.CollectionStartEvent, place: Place) -> None:
        self.tree: dict[str, Tree] | list[Tree] = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.place = place
        self.anchor = event.anchor
        self.key: str | None = None
        self.ignored = False
        self.size = 1
        self.depth = 1

    @property
    def wants_key(self) -> bool:
        return isinstance(self.tree, dict) and self.key is None

    @property
    def next_place(self) -> Place:
        return (*self.place, len(self.tree) if self.key is None else self.key)

    def attach(self, child: _Value) -> None:
        self.size += child.size
        self.depth = max(self.depth, child.depth + 1)
        if isinstance(self.tree, list):
            self.tree.append(child.value)
        elif self.key is not None:
            if not self.ignored:
                self.tree[self.key] = child.value
            self.key = None


class _Composer:
    """Builds values from events without recursion, so that depth costs no stack."""

    def __init__(self, findings: Findings) -> None:
        self.tree: Tree = None
        self._findings = findings
        self._open: list[_Branch] = []
        self._anchors: dict[str, _Value] = {}
        self._values = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self._findings.stop("a second document begins", "one document", line)
            case yaml.ScalarEvent() if self._open and self._open[-1].wants_key:
                self._begin_entry(self._open[-1], event.value, line)
            case yaml.ScalarEvent():
                self._finish(_Value(self._scalar(event, line)), event.anchor, line)
            case yaml.AliasEvent():
                self._finish(self._aliased(event, line), None, line)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._begin(event, line)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                branch = self._open.pop()
                self._finish(_Value(branch.tree, branch.size, branch.depth), branch.anchor, None)
            case _:
                pass  # the ends of documents and of the stream hold no values

    def _begin(self, event: yaml.CollectionStartEvent, line: int) -> None:
        self._refuse_as_key(line)
        self._refuse_depth(1, line)
        if event.tag not in {None, "!"}:
            self._findings.add(self._place(), f"the tag {event.tag}", "no tags", line)
        self._note(line)
        self._open.append(_Branch(event, self._place()))

    def _begin_entry(self, branch: _Branch, key: str, line: int) -> None:
        branch.key = key
        branch.ignored = key in branch.tree
        if branch.ignored:
            first = self._findings.lines.get(branch.next_place)
            self._findings.add(branch.next_place, f"stands here for the second time, after line {first}", "once", line)
        else:
            self._findings.lines[branch.next_place] = line

    def _finish(self, child: _Value, anchor: str | None, line: int | None) -> None:
        if line is not None:
            self._refuse_as_key(line)
            self._note(line)
        self._values += child.size
        if self._values > MAX_VALUES:
            self._findings.stop("too many values, those that aliases stand for included", f"{MAX_VALUES}", line)
        if anchor is not None:
            self._anchors[anchor] = child
        if self._open:
            self._open[-1].attach(child)
        else:
            self.tree = child.value

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> Tree:
        if event.tag not in _STRING_TAGS:
            self._findings.add(self._place(), f"the tag {event.tag}", "no tags", line)
        return resolve(event.value) if event.tag is None and event.implicit[0] else event.value

    def _aliased(self, event: yaml.AliasEvent, line: int) -> _Value:
        known = self._anchors.get(event.anchor or "")
        if known is None:
            self._findings.stop(f"the alias *{event.anchor} has no anchor before it", "", line)
        self._refuse_depth(known.depth, line)
        return known

    def _note(self, line: int) -> None:
        self._findings.lines.setdefault(self._place(), line)

    def _place(self) -> Place:
        return self._open[-1].next_place if self._open else ()

    def _refuse_as_key(self, line: int) -> None:
        if self._open and self._open[-1].wants_key:
            self._findings.stop("a key that is no plain word", "words as keys", line)

    def _refuse_depth(self, more: int, line: int) -> None:
        if len(self._open) + more > MAX_DEPTH:
            self._findings.stop("too many levels, one in another", f"{MAX_DEPTH}", line)
