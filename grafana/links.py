"""Where one can go from a dashboard: to the others, to a target, to a runbook."""

from collections.abc import Sequence

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as model

FLEET = "tlsprobe-fleet"
TARGET = "tlsprobe-target"
WAVES = "tlsprobe-waves"
EXPORTER = "tlsprobe-exporter"

TAG = "tlsprobe"
RUNBOOKS = "https://tlsprobe.example/runbooks"
"""Nobody owns that name: the variable `runbooks` of each dashboard holds it, to be changed."""

_TARGET = (
    f"/d/{TARGET}?var-target=${{__data.fields.target}}&var-cluster=${{__data.fields.cluster}}"
    "&var-namespace=${__data.fields.namespace}&${datasource:queryparam}&${__url_time_range}"
)
_RUNBOOK = "${runbooks:raw}/${__data.fields.alertname}.md"


def dashboard_links() -> list[Builder[model.DashboardLink]]:
    """Return the links at a dashboard's top: all dashboards that bear the tag, with time and choices kept."""
    others = dashboard.DashboardLink("TLS").type(model.DashboardLinkType.DASHBOARDS).tags([TAG])
    return [others.include_vars(True).keep_time(True).as_dropdown(False)]


def runbook_links(alerts: Sequence[str]) -> list[Builder[model.DashboardLink]]:
    """Return a panel's links to the runbooks of these alerts."""
    return [
        dashboard.DashboardLink(alert)
        .type(model.DashboardLinkType.LINK)
        .url(f"${{runbooks:raw}}/{alert}.md")
        .target_blank(True)
        for alert in alerts
    ]


def to_target() -> model.DynamicConfigValue:
    """Make the cells of a column lead to the dashboard of the row's target."""
    return _cell_link("Show this target", _TARGET, new_tab=False)


def to_runbook() -> model.DynamicConfigValue:
    """Make the cells of a column lead to the runbook of the row's alert."""
    return _cell_link("Runbook", _RUNBOOK, new_tab=True)


def _cell_link(title: str, url: str, *, new_tab: bool) -> model.DynamicConfigValue:
    return model.DynamicConfigValue("links", [{"title": title, "url": url, "targetBlank": new_tab}])
