"""The JSON Schema of a configuration file, for editors (JSON Schema 2020-12)."""

import re
from inspect import getdoc
from typing import Any

import msgspec

from exporter.config.kinds import Section
from exporter.config.schema import Document

_ATTRIBUTE = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*)$")


def json_schema() -> dict[str, Any]:
    """Return the schema of a whole file, with the docstrings of its sections as descriptions."""
    schema = msgspec.json.schema(Document)
    for kind in Section.__subclasses__():
        summary, attributes = _described(kind)
        definition = schema["$defs"][kind.__name__]
        definition["description"] = summary
        for name, text in attributes.items():
            _describe(definition["properties"], name, text)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of tls-resumption-exporter",
        **schema,
    }


def _describe(properties: dict[str, Any], name: str, text: str) -> None:
    properties[name] = {"description": text, **properties[name]}


def _described(kind: type[Section]) -> tuple[str, dict[str, str]]:
    """Return a section's first sentences, and its attributes' descriptions by name."""
    summary, _, listing = (getdoc(kind) or "").partition("\n\nAttributes:\n")
    attributes = {}
    for line in listing.splitlines():
        match = _ATTRIBUTE.match(line)
        if match:
            attributes[match[1]] = match[2]
    return summary, attributes
