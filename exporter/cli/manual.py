"""`tlsprobe manual`: the manual page, in the language of man(7), made from the same grammar as the help."""

from collections.abc import Iterator

from exporter.cli.grammar import Command, Group, Word


def write_manual(grammar: Command, version: str) -> str:
    """Return the page in section 1."""
    return "\n".join(_lines(grammar, version)) + "\n"


def _lines(grammar: Command, version: str) -> Iterator[str]:
    name = grammar.name
    yield f'.TH {name.upper()} 1 "" "{name} {version}" "User Commands"'
    yield ".SH NAME"
    yield f"{name} \\- {_escape(grammar.description)}"
    yield ".SH SYNOPSIS"
    for number, command in enumerate(grammar.commands):
        yield from (".br",) if number else ()
        yield _synopsis(name, command)
    yield ".SH OPTIONS"
    yield from _group(next(iter(grammar.groups)))
    yield ".SH COMMANDS"
    for command in grammar.commands:
        yield f".SS {_escape(command.name)}"
        yield _escape(command.description)
        for group in command.groups:
            yield from _group(group)


def _synopsis(name: str, command: Command) -> str:
    words = [f"\\fB{_escape(name)} {_escape(command.name)}\\fR", "[\\fIOPTION\\fR]..."]
    words += [f"[{_italic(word)}]" if word.optional else _italic(word) for word in command.arguments]
    return " ".join(words)


def _group(group: Group) -> Iterator[str]:
    if group.title and group.words:
        yield ".PP"
        yield f"{_escape(group.title.capitalize())}:"
    for word in group.words:
        yield ".TP"
        yield _term(word)
        yield _escape(word.help)


def _term(word: Word) -> str:
    if not word.flags:
        return _italic(word)
    flags = ", ".join(f"\\fB{_escape(flag)}\\fR" for flag in word.flags)
    if not word.value:
        return flags
    return f"{flags} [{_italic(word)}]" if word.optional else f"{flags} {_italic(word)}"


def _italic(word: Word) -> str:
    return f"\\fI{_escape(word.value)}\\fR"


def _escape(text: str) -> str:
    """Return a text that man shows as it is: a dash as what can be typed, and nothing at its head as a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
