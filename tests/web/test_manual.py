"""The page about the web side."""

import re
from pathlib import Path

import msgspec
import pytest

from exporter.cli.arguments import parse_words
from exporter.web.schema import HttpServerSection, TlsServerSection, WebDocument

TEXT = Path("docs/web.md").read_text()


@pytest.mark.parametrize("kind", [WebDocument, TlsServerSection, HttpServerSection])
def test_every_field_is_explained(kind: type[msgspec.Struct]) -> None:
    """Each field of the web configuration file is named."""
    named = set(re.findall(r"`(\w+)`", TEXT)) | set(re.findall(r"^(\w+):", TEXT, re.MULTILINE))

    assert {info.encode_name for info in msgspec.structs.fields(kind)} <= named


def test_every_option_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """Each option of the web side is named."""
    with pytest.raises(SystemExit):
        parse_words(["run", "--help"])

    options = set(re.findall(r"--web\.[\w.-]+", capsys.readouterr().out))
    assert options
    assert options <= set(re.findall(r"`(--web\.[\w.-]+)", TEXT))
