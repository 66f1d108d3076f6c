"""What dashboards have around their panels: variables, annotations, links, and how they become JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as model

from exporter.model.target import TlsVersion
from grafana.links import RUNBOOKS, TAG, dashboard_links
from grafana.panels import SOURCE, Panel
from grafana.queries import EACH_VERSION, began_anew, grown

Variable = Builder[model.VariableModel]

_ALL = model.VariableOption(selected=True, text="All", value="$__all")


@dataclass(frozen=True, slots=True)
class Section:
    """Panels under a heading, laid out from left to right."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A dashboard.

    Attributes:
        uid: stays as it is for ever, since links and bookmarks name it.
        variables: after those that all dashboards have: data source, runbooks, cluster and namespace.
        marked: the selector of those targets whose key changes are marked; "" marks nothing.
    """

    uid: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    sections: tuple[Section, ...]
    marked: str = ""

    def build(self) -> model.Dashboard:
        """Make the dashboard."""
        made = dashboard.Dashboard(self.title).uid(self.uid).description(self.description).tags([TAG])
        made.time("now-6h", "now").refresh("1m").timezone("browser").tooltip(model.DashboardCursorSync.CROSSHAIR)
        made.variables([*_everywhere(), *self.variables]).links(dashboard_links())
        made.annotations(marks(self.marked) if self.marked else [])
        for section in self.sections:
            made.with_row(dashboard.Row(section.title))
            for panel in section.panels:
                made.with_panel(panel.build())
        built = made.build()
        for number, each in enumerate(built.panels or (), start=1):
            each.id_val = number
        return built

    @property
    def json(self) -> str:
        """The dashboard as Grafana reads it."""
        return json.dumps(self.build(), cls=JSONEncoder, sort_keys=True, indent=2) + "\n"


class _Annotation(model.AnnotationQuery):
    """An annotation with words, which Grafana reads and the library's model does not have."""

    words: Mapping[str, str]

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), **self.words}


@dataclass(frozen=True, slots=True)
class Mark(Builder[model.AnnotationQuery]):
    """A mark in all panels wherever an expression has a value.

    Attributes:
        text: with {{label}} for a label's value.
    """

    name: str
    colour: str
    expression: str
    text: str

    def build(self) -> model.AnnotationQuery:
        """Make the annotation."""
        made = _Annotation(name=self.name, datasource=SOURCE, icon_color=self.colour, expr=self.expression)
        made.words = {"titleFormat": self.name, "textFormat": self.text, "tagKeys": "target,tls"}
        return made


def marks(selector: str) -> list[Builder[model.AnnotationQuery]]:
    """Return the annotations of key changes, of breaks, and of counts that began anew (a restart, a changed target)."""
    version = "{{target}}, TLS {{tls}}"
    changes = grown(f"tlsprobe_ticket_key_changes_total{{{selector}}}", EACH_VERSION)
    breaks = grown(f"tlsprobe_ticket_key_breaks_total{{{selector}}}", EACH_VERSION)
    restarts = began_anew(f"tlsprobe_rounds_total{{{selector}}}", "instance")
    return [
        Mark("Ticket key changed", "blue", changes, version),
        Mark("Tickets died with their key", "red", breaks, version),
        Mark("Began anew", "text", restarts, "{{instance}}: counts and numbers of keys begin again"),
    ]


def chosen(name: str, label: str, query: str, *, several: bool = True) -> Variable:
    """Return a variable that is filled from a query: several values or all of them, or just one."""
    made = (
        dashboard.QueryVariable(name)
        .label(label)
        .query(query)
        .datasource(SOURCE)
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.NATURAL_ASC)
    )
    return made.multi(True).include_all(True).all_value(".*").current(_ALL) if several else made


def versions() -> Variable:
    """Return the variable for TLS versions."""
    made = dashboard.CustomVariable("tls").label("TLS").values(",".join(TlsVersion))
    return made.multi(True).include_all(True).all_value(".*").current(_ALL)


def _everywhere() -> Sequence[Variable]:
    return (
        dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"),
        dashboard.ConstantVariable("runbooks").value(RUNBOOKS),
        chosen("cluster", "Cluster", "label_values(tlsprobe_build_info, cluster)"),
        chosen("namespace", "Namespace", 'label_values(tlsprobe_build_info{cluster=~"$cluster"}, namespace)'),
    )
