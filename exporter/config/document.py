"""From YAML text to plain values with the line of each, within bounds that no text can break.

Duplicate keys are refused. Aliases are allowed as far as the document that they stand for stays small.
"""

from exporter.config.problem import Findings
from exporter.config.scalars import Tree

MAX_BYTES = 4 << 20


def compose(text: str, findings: Findings) -> Tree:
    """Return the document's values, and note the line of each in `findings`.

    Raises:
        ConfigError: the text is no YAML, holds several documents, or is larger or deeper than a configuration can be.
    """
    if len(text) > MAX_BYTES:
        findings.stop("the file is too large", "at most 4 MiB")
    from exporter.config.composer import compose_events  # noqa: PLC0415 - PyYAML takes a MiB

    return compose_events(text, findings)
