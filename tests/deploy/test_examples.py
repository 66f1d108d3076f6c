"""Every configuration that is shown somewhere can be used."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from exporter.config.check import check
from exporter.config.schema import Document

DOCUMENTS = (Path("README.md"), *sorted(Path("docs").rglob("*.md")))
FILES = (Path("config.example.yaml"), *sorted(Path("deploy").rglob("config.yaml")))
_BLOCK = re.compile(r"^```ya?ml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[str, str]]:
    """Yield where each configuration in the documents stands, and its text; other YAML is none of ours."""
    for path in DOCUMENTS:
        for number, text in enumerate(_BLOCK.findall(path.read_text())):
            found = list(yaml.safe_load_all(text))
            if len(found) == 1 and isinstance(found[0], dict) and set(found[0]) <= set(Document.__struct_fields__):
                yield f"{path}, block {number}", text


CONFIGURATIONS = [(str(file), file.read_text()) for file in FILES if "templates" not in file.parts]


@pytest.mark.parametrize("text", [pytest.param(text, id=where) for where, text in (*CONFIGURATIONS, *blocks())])
def test_it_passes_the_check(text: str, tmp_path: Path) -> None:
    """`tlsprobe check` finds nothing wrong with it."""
    file = tmp_path / "config.yaml"
    file.write_text(text)
    code, told = check(file)

    assert 0 == code, told


def test_there_are_examples() -> None:
    """The documents' blocks are found at all."""
    assert {"README.md", "docs/deployment.md"} <= {where.split(",")[0] for where, _ in blocks()}
    assert 4 <= len(CONFIGURATIONS)
