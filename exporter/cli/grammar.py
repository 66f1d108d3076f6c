"""The command line as plain facts, read off its parser, so that help, manual and completion never differ."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Word:
    """An option or an argument.

    Attributes:
        flags: as they are typed, none for an argument.
        value: what the help calls its value, empty where it takes none.
        choices: all that its value may be, empty where it may be more.
        optional: its value, or the argument itself, may be left out.
        repeated: it may be given more than once.
        file: its value is the path of a file.
    """

    flags: tuple[str, ...]
    value: str
    help: str
    choices: tuple[str, ...] = ()
    optional: bool = False
    repeated: bool = False
    file: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Words under one heading of the help, empty for those without."""

    title: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """What one command does and takes; of the program itself, which has commands, the help is empty."""

    name: str
    help: str
    description: str
    groups: tuple[Group, ...]
    commands: tuple["Command", ...] = ()

    @property
    def options(self) -> Iterator[Word]:
        """All words that begin with a dash."""
        return (word for group in self.groups for word in group.words if word.flags)

    @property
    def arguments(self) -> Iterator[Word]:
        """All words that are told by their place, in order."""
        return (word for group in self.groups for word in group.words if not word.flags)


def read_grammar(parser: argparse.ArgumentParser) -> Command:
    """Return all that a program's parser knows, its commands within."""
    return _read(parser.prog, "", parser)


def _read(name: str, line: str, parser: argparse.ArgumentParser) -> Command:
    return Command(
        name=name,
        help=line,
        description=parser.description or "",
        groups=tuple(_groups(parser)),
        commands=tuple(_commands(parser)),
    )


def _groups(parser: argparse.ArgumentParser) -> Iterator[Group]:
    plain: list[Word] = []
    titled: list[Group] = []
    # argparse has its own headings for the words that were put under none.
    own = {"positional arguments", "options"}
    for group in parser._action_groups:
        words = [_word(action) for action in group._group_actions if _is_word(action)]
        if group.title in own:
            plain += words
        else:
            titled.append(Group(group.title or "", tuple(words)))
    yield Group("", tuple(plain))
    yield from titled


def _is_word(action: argparse.Action) -> bool:
    return not isinstance(action, argparse._SubParsersAction) and action.help != argparse.SUPPRESS


def _word(action: argparse.Action) -> Word:
    choices = tuple(map(str, action.choices or ()))
    return Word(
        flags=tuple(action.option_strings),
        value="" if action.nargs == 0 else str(action.metavar or f"{{{','.join(choices)}}}"),
        help=(action.help or "").replace("%%", "%"),
        choices=choices,
        optional=action.nargs == argparse.OPTIONAL,
        repeated=isinstance(action, argparse._AppendAction),
        file=action.type is Path,
    )


def _commands(parser: argparse.ArgumentParser) -> Iterator[Command]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for line in action._choices_actions:
                yield _read(line.dest, line.help or "", action.choices[line.dest])
