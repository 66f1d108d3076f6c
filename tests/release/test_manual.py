"""The manual page, set by groff."""

import re
import subprocess
from argparse import ArgumentParser
from collections.abc import Callable

import pytest

from exporter.cli import arguments
from exporter.cli.grammar import Command, read_grammar
from exporter.cli.manual import write_manual
from tests.release import grammars

pytestmark = pytest.mark.servers("groff")


def set_page(grammar: Command) -> str:
    """Return the page as man shows it, on lines of any length and without overstriking."""
    command = ["groff", "-man", "-Tutf8", "-ww", "-rLL=1000n", "-P-cbou"]
    page = write_manual(grammar, "1.2.3")
    done = subprocess.run(command, input=page, capture_output=True, text=True, timeout=30, check=True)
    assert done.stderr == ""
    return re.sub(r"\x1b\[\d+m", "", done.stdout)


def test_characters() -> None:
    """What means something to man is shown as it is: dashes, quotes, backslashes, a dot that begins a line."""
    page = set_page(read_grammar(grammars.make_parser()))

    for text in ("tool - Do it - or don't.", "say [which]: it's 100% this one", ".so it goes; `away`\\n, at 5%."):
        assert text in page
    assert "--secret" not in page


@pytest.mark.parametrize("make", [arguments.make_parser, grammars.make_parser], ids=["tlsprobe", "tool"])
def test_all_words(make: Callable[[], ArgumentParser]) -> None:
    """Each command has its section, with each of its options and the very words of the help."""
    grammar = read_grammar(make())
    sections = re.split(r"^   (?=\S)", set_page(grammar), flags=re.MULTILINE)[1:]

    assert [command.name for command in grammar.commands] == [section.split("\n")[0] for section in sections]
    for command, section in zip(grammar.commands, sections, strict=True):
        assert command.description in section
        for word in command.options:
            assert ", ".join(word.flags) in section
            assert word.help in section
