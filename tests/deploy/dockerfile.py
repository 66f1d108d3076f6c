"""What a Dockerfile says, as far as ours says it: stages of instructions, with their arguments filled in."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_OPTION = re.compile(r"--([a-z-]+)=(\S+)\s+")


class UnknownInstructionError(ValueError):
    """An instruction, or a form of one, that this reader does not know."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line, the lines that it goes on in included.

    Attributes:
        word: such as `RUN`, in upper case.
        text: what stands behind it and its options, variables not filled in.
    """

    word: str
    options: Mapping[str, str]
    text: str

    @property
    def words(self) -> tuple[str, ...]:
        """The exec form's words, or else the text's."""
        return tuple(json.loads(self.text)) if self.text.startswith("[") else tuple(shlex.split(self.text))


@dataclass(frozen=True, slots=True)
class Stage:
    """From one `FROM` to the next.

    Attributes:
        name: behind `AS`, or the stage's number.
        base: the image's name, filled in.
    """

    name: str
    base: str
    instructions: tuple[Instruction, ...]

    def last(self, word: str) -> Instruction:
        """Return the last instruction of this word; it is the one that counts."""
        return [each for each in self.instructions if each.word == word][-1]


def read_stages(file: Path) -> tuple[Stage, ...]:
    """Return the stages, in order.

    Raises:
        UnknownInstructionError: the file has something that this reader does not know.
    """
    preset: dict[str, str] = {}
    stages: list[Stage] = []
    body: list[Instruction] = []
    for each in _instructions(file.read_text()):
        if each.word == "FROM":
            base, _, name = each.text.partition(" AS ")
            body = []
            stages.append(Stage(name or str(len(stages)), fill(base, preset), ()))
        elif not stages:
            preset |= defaults(each)
        else:
            body.append(each)
            stages[-1] = Stage(stages[-1].name, stages[-1].base, tuple(body))
    return tuple(stages)


def defaults(argument: Instruction) -> Mapping[str, str]:
    """Return what an `ARG` is where nobody says otherwise."""
    if argument.word != "ARG":
        raise UnknownInstructionError(argument.word)
    name, _, value = argument.text.partition("=")
    return {name: value}


def fill(text: str, variables: Mapping[str, str]) -> str:
    """Return the text with the variables' values; one that is not known is a mistake in the file."""
    return _VARIABLE.sub(lambda match: variables[match[1] or match[2]], text)


def _instructions(text: str) -> Iterator[Instruction]:
    kept = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in filter(None, kept.replace("\\\n", " ").splitlines()):
        word, _, rest = line.partition(" ")
        options: dict[str, str] = {}
        while (match := _OPTION.match(rest)) is not None and word != "RUN":
            options[match[1]] = match[2]
            rest = rest[match.end() :]
        yield Instruction(word, options, rest.strip())
