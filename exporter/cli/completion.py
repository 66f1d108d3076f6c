"""`tlsprobe completion`: what a shell needs to complete the command line, made from its grammar."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from exporter.cli.grammar import Command, Word


def complete(shell: str, grammar: Command) -> str:
    """Return the script for one of SHELLS."""
    return "\n".join(SHELLS[shell](grammar)) + "\n"


def _flags(command: Command) -> list[str]:
    return [flag for word in command.options for flag in word.flags]


def _valued(command: Command) -> Iterator[Word]:
    """Yield the options that must have a value; one whose value may be left out may be followed by anything."""
    return (word for word in command.options if word.value and not word.optional)


def _bash(grammar: Command) -> Iterator[str]:
    name = grammar.name
    yield f"# bash completion for {name}"
    yield f"_{name}() {{"
    yield '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command="" each'
    yield "    # bash takes --option=value for three words."
    yield "    [[ $word == = ]] && word='' && before=${COMP_WORDS[COMP_CWORD - 1]}"
    yield "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}"
    yield '    for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield "        [[ $each == -* ]] || { command=$each; break; }"
    yield "    done"
    yield "    COMPREPLY=()"
    yield "    case $command:$before in"
    for command in grammar.commands:
        for word in _valued(command):
            pattern = "|".join(shlex.quote(f"{command.name}:{flag}") for flag in word.flags)
            yield f"        {pattern}) {_bash_value(word)}; return ;;"
    yield "    esac"
    yield "    case $command:$word in"
    yield f"        :-*) {_bash_words(_flags(grammar))} ;;"
    yield f"        :*) {_bash_words([command.name for command in grammar.commands])} ;;"
    for command in grammar.commands:
        yield f"        {command.name}:-*) {_bash_words(_flags(command))} ;;"
        for argument in command.arguments:
            yield f"        {command.name}:*) {_bash_value(argument)} ;;"
    yield "    esac"
    yield "}"
    yield f"complete -F _{name} {name}"


def _bash_value(word: Word) -> str:
    if word.choices:
        return _bash_words(list(word.choices))
    if word.file:
        return 'compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word")'
    return ":"


def _bash_words(words: list[str]) -> str:
    return f'mapfile -t COMPREPLY < <(compgen -W {shlex.quote(" ".join(words))} -- "$word")'


def _zsh(grammar: Command) -> Iterator[str]:
    name = grammar.name
    yield f"#compdef {name}"
    yield f"_{name}() {{"
    yield "    local context state state_descr line"
    yield "    typeset -A opt_args"
    yield from _zsh_arguments(grammar, ("1:command:->command", "*::argument:->argument"), "    ")
    yield "    case $state in"
    yield "        command)"
    yield "            local -a commands=("
    for command in grammar.commands:
        yield f"                {shlex.quote(f'{command.name}:{command.help}')}"
    yield "            )"
    yield "            _describe -t commands command commands ;;"
    yield "        argument)"
    yield "            case $line[1] in"
    for command in grammar.commands:
        yield f"                {command.name})"
        arguments = [_zsh_argument(place, word) for place, word in enumerate(command.arguments, 1)]
        yield from _zsh_arguments(command, arguments, " " * 20)
        yield "                    ;;"
    yield "            esac ;;"
    yield "    esac"
    yield "}"
    yield "# Read as a file of fpath this is the function's body, and else it is to be registered."
    yield f'if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _{name} "$@"; else compdef _{name} {name}; fi'


def _zsh_arguments(command: Command, arguments: tuple[str, ...] | list[str], indent: str) -> Iterator[str]:
    lines = [_zsh_option(word, flag) for word in command.options for flag in word.flags]
    yield f"{indent}_arguments -C \\"
    yield " \\\n".join(f"{indent}    {shlex.quote(line)}" for line in (*lines, *arguments))


def _zsh_option(word: Word, flag: str) -> str:
    """Return an optspec of zshcompsys(1), `_arguments`."""
    others = "" if word.repeated or len(word.flags) == 1 else f"({' '.join(word.flags)})"
    value = f"{'::' if word.optional else ':'}{_zsh_value(word)}" if word.value else ""
    joined = "=" if word.value and flag.startswith("--") else ""  # --option=value as well as --option value
    return f"{'*' if word.repeated else others}{flag}{joined}[{_zsh_escape(word.help, '[]:')}]{value}"


def _zsh_argument(place: int, word: Word) -> str:
    return f"{place}{'::' if word.optional else ':'}{_zsh_value(word)}"


def _zsh_value(word: Word) -> str:
    action = f"({' '.join(word.choices)})" if word.choices else "_files" if word.file else " "
    return f"{_zsh_escape(word.value, ':')}:{action}"


def _zsh_escape(text: str, special: str) -> str:
    return "".join(f"\\{char}" if char in special or char == "\\" else char for char in text)


def _fish(grammar: Command) -> Iterator[str]:
    start = f"complete -c {grammar.name}"
    yield f"# fish completion for {grammar.name}"
    yield f"{start} -f"
    for word in grammar.options:
        yield f"{start} -n __fish_use_subcommand{_fish_option(word)}"
    for command in grammar.commands:
        yield f"{start} -n __fish_use_subcommand -a {command.name} -d {_fish_quote(command.help)}"
        inside = f"{start} -n '__fish_seen_subcommand_from {command.name}'"
        for word in command.options:
            yield f"{inside}{_fish_option(word)}"
        for word in command.arguments:
            if word.choices or word.file:
                yield f"{inside}{_fish_value(word)}"


def _fish_option(word: Word) -> str:
    flags = "".join(f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in word.flags)
    value = f" -r{_fish_value(word)}" if word.value and not word.optional else ""
    return f"{flags}{value} -d {_fish_quote(word.help)}"


def _fish_value(word: Word) -> str:
    if word.choices:
        return f" -f -a {_fish_quote(' '.join(word.choices))}"
    return " -F" if word.file else " -f"


def _fish_quote(text: str) -> str:
    """Quote as fish does, which knows the backslash within single quotes, too."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SHELLS: Mapping[str, Callable[[Command], Iterator[str]]] = MappingProxyType({"bash": _bash, "zsh": _zsh, "fish": _fish})
