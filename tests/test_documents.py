"""Documents that must name all that there is."""

import re
from enum import StrEnum
from pathlib import Path

import pytest

from exporter.model.verdicts import BackendState, Cause, TargetState

VERDICTS = Path("docs/verdicts.md")


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        pytest.param("A target", TargetState, id="target"),
        pytest.param("A backend", BackendState, id="backend"),
        pytest.param("A refusal", Cause, id="cause"),
    ],
)
def test_every_word_is_explained(heading: str, words: type[StrEnum]) -> None:
    """The page has one row for each member of the list, and none for anything else."""
    section = re.split(r"^## ", VERDICTS.read_text(), flags=re.MULTILINE)
    (text,) = [each for each in section if each.startswith(heading)]

    assert sorted(words) == sorted(re.findall(r"^\| `(\w+)`", text, flags=re.MULTILINE))
