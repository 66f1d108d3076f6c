"""Every configuration that is shown somewhere can be used."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from exporter.config.check import check

DOCUMENTS = (Path("README.md"), *sorted(Path("docs").rglob("*.md")))
FILES = (Path("config.example.yaml"), *sorted(Path("deploy").rglob("config.yaml")))
_BLOCK = re.compile(r"^ *```ya?ml\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_OTHERS = frozenset(
    {
        "apiVersion",
        "data",
        "groups",
        "inhibit_rules",
        "kind",
        "rule_files",
        "scrape_configs",
        "tls_server_config",
        "transport_socket",
    }
)
"""What begins other programs' YAML; all else is a configuration of ours, so that a misspelt one is not passed over."""


def blocks() -> Iterator[tuple[str, str]]:
    """Yield where each configuration in the documents stands, and its text."""
    for path in DOCUMENTS:
        for number, text in enumerate(_BLOCK.findall(path.read_text())):
            if not any(_OTHERS & set(found) for found in yaml.safe_load_all(text)):
                yield f"{path}, block {number}", textwrap.dedent(text)


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
