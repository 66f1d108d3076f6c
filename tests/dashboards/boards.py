"""The dashboards as they are shipped."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path("grafana/dashboards")
BOARDS: Mapping[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))
}
"""By uid."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        board: uid of its dashboard.
        content: all that the JSON says of it.
    """

    board: str
    title: str
    content: dict[str, Any]

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return f"{self.board}: {self.title}"

    @property
    def queries(self) -> Mapping[str, dict[str, Any]]:
        """Its queries, by their letters."""
        return {target["refId"]: target for target in self.content["targets"]}


def panels() -> Iterator[Panel]:
    """Yield all panels that have queries."""
    for uid, board in BOARDS.items():
        for panel in board["panels"]:
            if panel["type"] != "row":
                yield Panel(uid, panel["title"], panel)


def expressions() -> Iterator[tuple[str, str]]:
    """Yield every query, with a name such as `tlsprobe-fleet: Targets A`; those of annotations, too."""
    for panel in panels():
        for letter, query in panel.queries.items():
            yield f"{panel.name} {letter}", query["expr"]
    for uid, board in BOARDS.items():
        for mark in board["annotations"]["list"]:
            yield f"{uid}: mark: {mark['name']}", mark["expr"]


def variables() -> Iterator[tuple[str, str]]:
    """Yield the queries that fill variables, with the names of these."""
    for uid, board in BOARDS.items():
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                yield f"{uid}: variable: {variable['name']}", variable["query"]


def replaced(expression: str, values: Mapping[str, str]) -> str:
    """Put values in the places of variables.

    Raises:
        KeyError: there is no value for one of them.
    """
    return re.sub(r"\$(\w+)", lambda found: values[found[1]], expression)
