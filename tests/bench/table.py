"""What a benchmark found, as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a heading, a sentence on how it came about, and what it was to show.

    Attributes:
        rows: cells as text, as many as there are columns.
        goals: what each goal says, and whether it is met.
    """

    title: str
    method: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    goals: tuple[tuple[str, bool], ...] = ()

    @property
    def met(self) -> bool:
        """Whether every goal is."""
        return all(met for _, met in self.goals)


def render(table: Table) -> str:
    """Render with a heading of the second level."""
    lines = [f"## {table.title}", "", table.method, ""]
    lines += [_row(table.columns), _row(["---"] * len(table.columns)), *map(_row, table.rows), ""]
    lines += [f"- {goal}: {'met' if met else 'MISSED'}" for goal, met in table.goals]
    return "\n".join(lines).rstrip() + "\n"


def milliseconds(seconds: float) -> str:
    """Render a duration in ms."""
    return f"{seconds * 1e3:.2f}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
