"""The page about discovery: its configurations are good ones, and it knows every label that is a setting."""

import re
from pathlib import Path

import msgspec
import pytest

from exporter.config.discovered import Listing, read_listing
from exporter.config.load import parse
from exporter.config.template import MetaSection, Template

PAGE = (Path(__file__).parents[2] / "docs" / "discovery.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
CONFIGURATIONS = [text for kind, text in BLOCKS if kind == "yaml" and re.search(r"^targets:", text, re.MULTILINE)]


@pytest.mark.parametrize("text", CONFIGURATIONS, ids=["central", "sidecar"])
def test_configurations(text: str) -> None:
    """What the page says to write can be written."""
    assert parse(text, "page", Path("/etc/tlsprobe")).targets


def test_list() -> None:
    """The list that it shows is one."""
    (text,) = (text for kind, text in BLOCKS if kind == "json")

    assert 2 == len(read_listing(Listing(text, "page", is_json=True), Template(), 10))


def test_labels() -> None:
    """Every label that is a setting is in the table."""
    assert [] == [
        field.encode_name for field in msgspec.structs.fields(MetaSection) if f"`{field.encode_name}`" not in PAGE
    ]
