"""The rule files as they are shipped."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path("deploy/prometheus/rules")
FILES = tuple(sorted(FOLDER.glob("*.yaml")))


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        name: of the series or of the alert.
        settings: all that the file says of it.
    """

    name: str
    alert: bool
    expression: str
    settings: Mapping[str, Any]

    @property
    def queries(self) -> tuple[str, ...]:
        """What its annotations ask Prometheus for, with %q where a label's value goes."""
        texts = self.settings.get("annotations", {}).values()
        return tuple(query for text in texts for query in re.findall(r"printf `([^`]*)`", text))


@cache
def rules() -> tuple[Rule, ...]:
    """Return all rules, in the order of the files."""
    return tuple(_read())


def _read() -> Iterator[Rule]:
    for file in FILES:
        for group in yaml.safe_load(file.read_text())["groups"]:
            for rule in group["rules"]:
                yield Rule(rule.get("alert") or rule["record"], "alert" in rule, str(rule["expr"]), rule)


def alerts() -> tuple[Rule, ...]:
    """Return the alerts; one that has two severities is there twice."""
    return tuple(rule for rule in rules() if rule.alert)
