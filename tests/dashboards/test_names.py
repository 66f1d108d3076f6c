"""What queries name: metrics, labels and values that the exporter or the rules have."""

import re

import pytest

from exporter.metrics.families import TABLE
from grafana.words import SCALES
from tests.dashboards.boards import expressions, panels, variables
from tests.rules.names import listed_labels, recorded, selectors
from tests.rules.rulefiles import alerts, rules
from tests.rules.test_rules import SCRAPED, VALUES, family_of

LABELS = SCRAPED | {label for family in TABLE for label in family.labels}
OF_ALERTS = {"alertname", "alertstate", "severity"}
"""Beside the labels that the alert's expression leaves."""
EXPRESSIONS = [pytest.param(expression, id=name) for name, expression in expressions()]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_metrics_and_labels_exist(expression: str) -> None:
    """Every metric is a family of the exporter's or a recorded series, and every label is one that it has."""
    named = list(selectors(expression))

    assert named or recorded(expression) or "ALERTS{" in expression
    assert listed_labels(expression) <= LABELS | OF_ALERTS
    assert recorded(expression) <= {rule.name for rule in rules() if not rule.alert}
    for selector in named:
        labels = SCRAPED | set(family_of(selector.metric).labels)
        for label, value in selector.matchers:
            assert label in labels, f"{selector.metric} has no label {label}"
            if label in VALUES and not value.startswith("$"):
                assert set(value.split("|")) <= VALUES[label] | _ranked(selector.metric, label)


def _ranked(metric: str, label: str) -> set[str]:
    """Return what the label says by a list that dashboards put in an order."""
    return {str(value) for scale in SCALES if (scale.metric, scale.label) == (metric, label) for value in scale.colours}


def test_recorded_labels_exist() -> None:
    """A recorded series is asked for by labels that are in its name or that tell targets apart."""
    for name, expression in expressions():
        for series, matchers in re.findall(r"([a-z_]+:\w+:\w+)\{([^}]*)\}", expression):
            known = SCRAPED | set(series.partition(":")[0].split("_"))

            assert set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)) <= known, name


@pytest.mark.parametrize("expression", [each for each in EXPRESSIONS if "ALERTS{" in str(each.values[0])])
def test_alerts_exist(expression: str) -> None:
    """Alerts are asked for by severities and states that there are."""
    severities = {rule.settings["labels"]["severity"] for rule in alerts()}
    for matchers in re.findall(r"ALERTS\{([^}]*)\}", expression):
        asked = dict(re.findall(r'(\w+)=~?"([^"]*)"', matchers))

        assert asked["alertname"] == "Tlsprobe.+"
        assert asked["alertstate"] in {"pending", "firing"}
        assert asked["severity"] in severities | {".+"}


@pytest.mark.parametrize(
    ("legend", "expression"),
    [
        pytest.param(query["legendFormat"], query["expr"], id=f"{panel.name} {letter}")
        for panel in panels()
        for letter, query in panel.queries.items()
        if "legendFormat" in query
    ],
)
def test_legends(legend: str, expression: str) -> None:
    """What a legend names is in a list of labels to keep, or in the name of the recorded series that is shown."""
    levels = {word for series in recorded(expression) for word in series.partition(":")[0].split("_")}
    kept = listed_labels(expression) | levels | {"cluster", "namespace"}

    assert set(re.findall(r"\{\{(\w+)\}\}", legend)) <= kept


@pytest.mark.parametrize("query", [pytest.param(query, id=name) for name, query in variables()])
def test_variables_ask_for_what_is_there(query: str) -> None:
    """A variable is filled with the values of a label that its metric has."""
    (found,) = re.findall(r"label_values\((.*), (\w+)\)", query)
    (selector,) = selectors(found[0])

    assert {found[1], *(label for label, _ in selector.matchers)} <= SCRAPED | set(family_of(selector.metric).labels)
