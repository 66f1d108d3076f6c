"""The alerts as dashboards see them: thresholds, severities, and how urgent a target is."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from grafana_foundation_sdk.models.dashboard import (
    DashboardRangeMapOptions,
    RangeMap,
    ValueMappingResult,
)

from grafana.queries import EACH_TARGET, FLEET
from grafana.words import TARGET

RULES = Path(__file__).parent.parent / "deploy" / "prometheus" / "rules" / "alerts.yaml"

_URGENCIES = (
    ("info", "pending", "soon: info", "light-blue"),
    ("info", "firing", "info", "blue"),
    ("warning", "pending", "soon: warning", "light-orange"),
    ("warning", "firing", "warning", "orange"),
    ("critical", "pending", "soon: critical", "light-red"),
    ("critical", "firing", "critical", "red"),
)
_STEP = 100
"""Between urgencies; less than that is the rank of the worst state, so that one number sorts by both."""


@cache
def _rules() -> tuple[dict[str, Any], ...]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return tuple(rule for group in groups for rule in group["rules"])


def threshold(name: str) -> float:
    """Return the number that the rules record as `tlsprobe:NAME:threshold`.

    Raises:
        KeyError: the rules record no such series.
    """
    for rule in _rules():
        if rule.get("record") == threshold_series(name):
            return float(rule["expr"])
    raise KeyError(name)


def threshold_series(name: str) -> str:
    """Return the name of a recorded threshold."""
    return f"tlsprobe:{name}:threshold"


def firing(selector: str, severity: str = ".+") -> str:
    """Return the selector of the exporter's alerts that fire; `selector` narrows it by labels of the target."""
    return f'ALERTS{{alertname=~"Tlsprobe.+",alertstate="firing",severity=~"{severity}",{selector}}}'


def urgency() -> str:
    """Return the query for how urgent each target is: by its alerts, and among equals by its worst state."""
    terms = (
        f'ALERTS{{alertname=~"Tlsprobe.+",severity="{severity}",alertstate="{state}",{FLEET}}} * {number * _STEP}'
        for number, (severity, state, _, _) in enumerate(_URGENCIES, start=1)
    )
    nothing = f"max by ({EACH_TARGET}) (tlsprobe_interval_seconds{{{FLEET}}}) * 0"
    alerts = f"max by ({EACH_TARGET}) (\n  " + "\n  or ".join(terms) + "\n)"
    by_alerts, by_state = (
        f"({ranks}\nor on ({EACH_TARGET}) {nothing})" for ranks in (alerts, TARGET.ranks(FLEET, EACH_TARGET))
    )
    return f"{by_alerts}\n+ on ({EACH_TARGET})\n{by_state}"


def urgencies() -> list[RangeMap]:
    """Return the words and colours for what urgency() gives."""
    words = (("none", "green"), *((text, colour) for _, _, text, colour in _URGENCIES))
    return [
        RangeMap(
            options=DashboardRangeMapOptions(
                from_val=number * _STEP,
                to=number * _STEP + _STEP - 1,
                result=ValueMappingResult(text=text, color=colour, index=number),
            ),
        )
        for number, (text, colour) in enumerate(words)
    ]
