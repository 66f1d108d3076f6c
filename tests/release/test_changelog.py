"""The changelog's fragments."""

import tomllib
from pathlib import Path

import pytest

FRAGMENTS = sorted(Path("changelog.d").glob("*"))
TYPES = [each["directory"] for each in tomllib.loads(Path("pyproject.toml").read_text())["tool"]["towncrier"]["type"]]


@pytest.mark.parametrize("file", FRAGMENTS, ids=[file.name for file in FRAGMENTS])
def test_fragment(file: Path) -> None:
    """A fragment has a type that the changelog has a heading for, and is one line that ends like a sentence."""
    text = file.read_text()

    assert [file.name.split(".")[1], "md"] == file.name.split(".")[1:]
    assert file.name.split(".")[1] in TYPES
    assert text.endswith(".\n")
    assert text.count("\n") == 1
