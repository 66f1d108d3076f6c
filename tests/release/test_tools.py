"""The tools that people install commands with."""

import os
from pathlib import Path

import pytest

from exporter import __version__
from tests.release.conftest import Release
from tests.release.wheels import PINS, run
from tests.servers.process import find_program

PIPX = ("pipx", "install", "--backend", "uv", "--pip-args=--no-index --find-links={needed} --constraint={pins}")
UV = ("uv", "tool", "install", "--offline", "--no-index", "--find-links={needed}", "--constraints={pins}")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(PIPX, id="pipx", marks=pytest.mark.servers("pipx")),
        pytest.param(UV, id="uv", marks=pytest.mark.servers("uv")),
    ],
)
def test_install(words: tuple[str, ...], release: Release, tmp_path: Path) -> None:
    """The command is there, and says its version, after one command of the tool with the pins of the release."""
    program, *others = words
    places = {"needed": release.needed, "pins": PINS.resolve()}
    own = {name: str(tmp_path / name) for name in ("HOME", "PIPX_HOME", "UV_TOOL_DIR", "UV_CACHE_DIR")}
    run(
        [find_program(program), *(word.format(**places) for word in others), release.wheel],
        PIPX_BIN_DIR=str(tmp_path / "bin"),
        UV_TOOL_BIN_DIR=str(tmp_path / "bin"),
        PATH=f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        **own,
    )

    assert f"tlsprobe {__version__}" == run([tmp_path / "bin" / "tlsprobe", "--version"]).splitlines()[0]
