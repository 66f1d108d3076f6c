"""The completion scripts, asked by the shells themselves."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.cli import arguments
from exporter.cli.completion import SHELLS, complete
from exporter.cli.grammar import read_grammar
from tests.release import grammars

_BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_tool
printf '%s\n' "${COMPREPLY[@]}"
"""
_FISH = 'source $argv[1]; complete -C "$argv[2]"'
# A zsh within zsh that is typed to, since completion works in its line editor alone; it prints what it would offer.
_ZSH = r"""
zmodload zsh/zpty
zpty shell "zsh -f -i"
zpty -w shell "script=${(q)1}"
zpty -w shell '
PS1= TERM=dumb
autoload -Uz compinit && compinit -D -u
source $script
bindkey "^I" complete-word
compadd() {
    [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd "$@"; return }
    local -a found
    builtin compadd -O found "$@"
    print -rl -- ${found/#/candidate:}
    builtin compadd "$@"
}
finish() { print -r -- completion""-over }
comppostfuncs=(finish)
print -r -- set-up""-over'
zpty -r -m shell line '*set-up-over*'
zpty -w -n shell "$2"$'\t'
zpty -r -m shell line '*completion-over*'
print -r -- $line
zpty -d shell
"""


def _ask_bash(script: Path, line: str) -> list[str]:
    return _run(script.parent, "bash", "-c", _BASH, "bash", script, *line.replace("=", " = ").split(" "))


def _ask_fish(script: Path, line: str) -> list[str]:
    return [each.split("\t")[0] for each in _run(script.parent, "fish", "--no-config", "-c", _FISH, script, line)]


def _ask_zsh(script: Path, line: str) -> list[str]:
    shown = _run(script.parent, "zsh", "-f", "-c", _ZSH, "zsh", script, line)
    return [each.split("candidate:")[1] for each in shown if "candidate:" in each]


_ASK: dict[str, Callable[[Path, str], list[str]]] = {"bash": _ask_bash, "zsh": _ask_zsh, "fish": _ask_fish}


def _run(folder: Path, *command: str | Path) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, cwd=folder)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("tool ", {"send", "stop"}, id="commands"),
        pytest.param("tool st", {"stop"}, id="one command"),
        pytest.param("tool send --", {"--help", "--to.host", "--way", "--watch", "--key"}, id="options"),
        pytest.param("tool send --w", {"--way", "--watch"}, id="options that begin so"),
        pytest.param("tool send --way ", {"slow", "fast"}, id="values"),
        pytest.param("tool send --way=f", {"fast"}, id="value behind a sign of equality"),
        pytest.param("tool send --key oth", {"other.pem"}, id="file of an option"),
        pytest.param("tool send oth", {"other.pem"}, id="file of an argument"),
        pytest.param("tool send --to.host x --way s", {"slow"}, id="behind another option"),
        pytest.param("tool send --to.host oth", set(), id="a value that is no file"),
        pytest.param("tool stop ", {"soft", "hard"}, id="values of an argument"),
    ],
)
@pytest.mark.parametrize("shell", [pytest.param(name, marks=pytest.mark.servers(name)) for name in SHELLS])
def test_offer(shell: str, line: str, expected: set[str], tmp_path: Path) -> None:
    """Each shell offers all that may stand there, and nothing else."""
    script = tmp_path / "script"
    script.write_text(complete(shell, read_grammar(grammars.make_parser())))
    (tmp_path / "other.pem").touch()

    assert expected == {each.split("=")[-1] for each in _ASK[shell](script, line) if each}


@pytest.mark.parametrize("shell", [pytest.param(name, marks=pytest.mark.servers(name)) for name in SHELLS])
def test_own_script(shell: str, tmp_path: Path) -> None:
    """The script for all words of this program is one that the shell can read."""
    script = tmp_path / "script"
    script.write_text(complete(shell, read_grammar(arguments.make_parser())))

    assert [] == _run(tmp_path, shell, "-n", script)
