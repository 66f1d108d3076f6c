"""Tables: one row for each set of labels, one column for each query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from grafana_foundation_sdk.builders import common as options
from grafana_foundation_sdk.builders import table
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models import prometheus

from grafana.panels import Panel, Steps, at_once, lettered

_HIDDEN = ("Time", "__name__")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How a query's values are shown.

    Attributes:
        title: "" hides the column, where only the labels matter.
        unit: as Grafana names it.
    """

    title: str
    unit: str = "none"
    steps: Steps = ()
    mappings: Sequence[model.ValueMapping] = ()
    decimals: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Panel):
    """Rows of what is now. Labels that all queries have tell the rows apart; others become columns of their own.

    Attributes:
        columns: one for each query.
        worst: the title of the column to sort by, largest first.
        order: labels that come first, from the left.
        cells: more settings for the columns of labels.
    """

    columns: tuple[Column, ...]
    worst: str = ""
    order: tuple[str, ...] = ()
    cells: Mapping[str, tuple[model.DynamicConfigValue, ...]] = field(default_factory=lambda: MappingProxyType({}))
    width: int = 24
    unit: str = "none"

    def build(self) -> Builder[model.Panel]:
        """Make the panel."""
        panel = table.Panel().filterable(True)
        self.describe(panel)
        for reference, query in lettered(self.queries).items():
            panel.with_target(at_once(reference, query).format(prometheus.PromQueryFormat.TABLE))
        panel.with_transformation(model.DataTransformerConfig(id_val="merge", options={}))
        panel.with_transformation(model.DataTransformerConfig(id_val="organize", options=self._arrangement()))
        if self.worst:
            panel.sort_by([options.TableSortByFieldState().display_name(self.worst).desc(True)])
        for column in self.columns:
            if column.title:
                panel.override_by_name(column.title, _settings(column))
        for label, settings in self.cells.items():
            panel.override_by_name(label, list(settings))
        return panel

    def _arrangement(self) -> dict[str, object]:
        values = dict(zip(self._values(), self.columns, strict=True))
        hidden = [*_HIDDEN, *(value for value, column in values.items() if not column.title)]
        return {
            "excludeByName": dict.fromkeys(hidden, True),
            "renameByName": {value: column.title for value, column in values.items() if column.title},
            "indexByName": {name: place for place, name in enumerate((*self.order, *values))},
        }

    def _values(self) -> list[str]:
        """Return the names that Grafana gives to the queries' values."""
        letters = list(lettered(self.queries))
        return [f"Value #{letter}" for letter in letters] if len(letters) > 1 else ["Value"]


def _settings(column: Column) -> list[model.DynamicConfigValue]:
    settings = [model.DynamicConfigValue("unit", column.unit)]
    if column.decimals is not None:
        settings.append(model.DynamicConfigValue("decimals", column.decimals))
    if column.mappings:
        settings.append(model.DynamicConfigValue("mappings", list(column.mappings)))
    if column.steps:
        steps = [{"value": value, "color": colour} for value, colour in column.steps]
        settings.append(model.DynamicConfigValue("thresholds", {"mode": "absolute", "steps": steps}))
    if column.steps or column.mappings:
        settings.append(model.DynamicConfigValue("custom.cellOptions", {"type": "color-text"}))
    return settings
