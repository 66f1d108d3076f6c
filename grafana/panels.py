"""Panels as data: what each shows, in which unit, and what to read when it looks bad."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Protocol, Self

from grafana_foundation_sdk.builders import common as options
from grafana_foundation_sdk.builders import dashboard, prometheus, stat, statetimeline, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as model

from grafana.links import runbook_links
from grafana.queries import Query

SOURCE = model.DataSourceRef(type_val="prometheus", uid="${datasource}")

Steps = tuple[tuple[float | None, str], ...]
"""Colours from a value on, in ascending order; None stands for all that is less than the others."""

PLAIN: Steps = ((None, "text"),)
COUNTS_AS_BAD: Steps = ((None, "green"), (1, "red"))


class _Builder(Protocol):
    """What the builders of all kinds of panels can do."""

    def title(self, title: str, /) -> Self: ...
    def description(self, description: str, /) -> Self: ...
    def datasource(self, datasource: model.DataSourceRef, /) -> Self: ...
    def height(self, h: int, /) -> Self: ...
    def span(self, w: int, /) -> Self: ...
    def links(self, links: list[Builder[model.DashboardLink]], /) -> Self: ...
    def unit(self, unit: str, /) -> Self: ...
    def no_value(self, no_value: str, /) -> Self: ...
    def thresholds(self, thresholds: Builder[model.ThresholdsConfig], /) -> Self: ...
    def mappings(self, mappings: list[model.ValueMapping], /) -> Self: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel(ABC):
    """What panels have in common.

    Attributes:
        description: what is shown and what it means, for whoever sees it for the first time.
        unit: as Grafana names it: `s` for seconds, `percentunit` for a share of 1, `none` for a plain number.
        width: of the 24 columns.
        runbooks: alerts that stand for what the panel shows going wrong.
        absent: what is said where there are no data.
    """

    title: str
    description: str
    queries: tuple[Query, ...]
    unit: str
    width: int = 12
    height: int = 8
    runbooks: tuple[str, ...] = ()
    absent: str = "no data"
    steps: Steps = PLAIN
    mappings: Sequence[model.ValueMapping] = ()

    @abstractmethod
    def build(self) -> Builder[model.Panel]:
        """Make the panel."""

    def describe(self, builder: _Builder) -> None:
        """Put what panels have in common into a builder."""
        builder.title(self.title).description(self.description).datasource(SOURCE).unit(self.unit)
        builder.span(self.width).height(self.height).no_value(self.absent).mappings(list(self.mappings))
        builder.thresholds(
            dashboard.ThresholdsConfig()
            .mode(model.ThresholdsMode.ABSOLUTE)
            .steps([model.Threshold(value, colour) for value, colour in self.steps])
        )
        builder.links(runbook_links(self.runbooks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines(Panel):
    """Values over time.

    Attributes:
        least, most: bounds of the axis, where the values have some.
        stacked: whether the values are parts of a whole.
    """

    least: float | None = 0
    most: float | None = None
    stacked: bool = False

    def build(self) -> Builder[model.Panel]:
        """Make the panel."""
        panel = timeseries.Panel().line_width(1).show_points(common.VisibilityMode.AUTO)
        self.describe(panel)
        panel.tooltip(
            options.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING)
        )
        panel.legend(
            options.VizLegendOptions()
            .display_mode(common.LegendDisplayMode.LIST)
            .placement(common.LegendPlacement.BOTTOM)
            .show_legend(True)
        )
        if self.least is not None:
            panel.min(self.least)
        if self.most is not None:
            panel.max(self.most)
        if self.stacked:
            panel.fill_opacity(30).stacking(options.StackingConfig().mode(common.StackingMode.NORMAL))
        for reference, query in lettered(self.queries).items():
            panel.with_target(_over_time(reference, query))
            if query.is_threshold:
                panel.override_by_query(reference, _DASHED)
        return panel


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Panel):
    """One number for each series, as it is now."""

    width: int = 4
    height: int = 4

    def build(self) -> Builder[model.Panel]:
        """Make the panel."""
        panel = stat.Panel().graph_mode(common.BigValueGraphMode.NONE).color_mode(common.BigValueColorMode.VALUE)
        self.describe(panel)
        panel.reduce_options(options.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        for reference, query in lettered(self.queries).items():
            panel.with_target(at_once(reference, query))
        return panel


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes(Panel):
    """States over time, a lane for each series.

    Attributes:
        by_value: whether a colour stands for the number itself, along a gradient over all that is shown; else the
            mappings say.
    """

    by_value: bool = False
    absent: str = "nothing to tell yet"

    def build(self) -> Builder[model.Panel]:
        """Make the panel."""
        panel = statetimeline.Panel().merge_values(True).show_value(common.VisibilityMode.AUTO).row_height(0.8)
        panel.fill_opacity(80).line_width(0)
        self.describe(panel)
        panel.tooltip(options.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI))
        panel.legend(
            options.VizLegendOptions()
            .display_mode(common.LegendDisplayMode.LIST)
            .placement(common.LegendPlacement.BOTTOM)
            .show_legend(not self.by_value)
        )
        mode = model.FieldColorModeId.CONTINUOUS_BL_YL_RD if self.by_value else model.FieldColorModeId.THRESHOLDS
        panel.color_scheme(dashboard.FieldColor().mode(mode))
        for reference, query in lettered(self.queries).items():
            panel.with_target(_over_time(reference, query))
        return panel


_DASHED = [
    model.DynamicConfigValue("custom.lineStyle", {"fill": "dash", "dash": [8, 8]}),
    model.DynamicConfigValue("color", {"mode": "fixed", "fixedColor": "red"}),
]


def lettered(queries: Sequence[Query]) -> Mapping[str, Query]:
    """Name queries A, B, C and so on."""
    return dict(zip(ascii_uppercase, queries, strict=False))


def at_once(reference: str, query: Query) -> prometheus.Dataquery:
    """Make a query for the present."""
    return _query(reference, query).instant()


def _over_time(reference: str, query: Query) -> prometheus.Dataquery:
    return _query(reference, query).range()


def _query(reference: str, query: Query) -> prometheus.Dataquery:
    made = prometheus.Dataquery().ref_id(reference).expr(query.expression).datasource(SOURCE)
    return made.legend_format(query.legend) if query.legend else made
