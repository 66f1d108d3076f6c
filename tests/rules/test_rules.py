"""The rules: promtool tries them, and what they name exists."""

import itertools
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter.metrics.families import TABLE
from exporter.metrics.family import Family, Kind
from exporter.model.connections import End, Farewell, StapleStatus, Trait
from exporter.model.failure import STAGE_REASONS, Stage
from exporter.model.observation import Mode, Origin
from exporter.model.target import Resumption, TlsVersion
from exporter.model.verdicts import BackendState, Cause, TargetState
from tests.rules.names import listed_labels, numbers, recorded, selectors
from tests.rules.rulefiles import FILES, Rule, alerts, rules
from tests.servers.process import find_program

CASES = sorted(path for path in Path("tests/rules").glob("*.yaml"))
ALERTS = Path("docs/alerts.md")
RUNBOOKS = Path("docs/runbooks")
SCRAPED = frozenset(
    {"cluster", "namespace", "job", "instance", "pod", "container", "endpoint", "service", "node", "le"}
    | {"prometheus", "prometheus_replica"}
)
"""Labels that Prometheus attaches."""
VALUES: Mapping[str, frozenset[str]] = {
    "tls": frozenset(TlsVersion),
    "mode": frozenset(Mode),
    "origin": frozenset(Origin),
    "cause": frozenset(Cause),
    "state": frozenset(TargetState) | frozenset(BackendState),
    "stage": frozenset(Stage),
    "resumption": frozenset(Resumption),
    "connection": frozenset({"new", "reused"}),
    "farewell": frozenset(Farewell),
    "status": frozenset(StapleStatus),
    "trait": frozenset(Trait),
    "reason": frozenset(reason for reasons in STAGE_REASONS.values() for reason in reasons) | frozenset(End),
}
"""What a label with a closed list can say."""


def promtool(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run promtool to its end."""
    command = (find_program("promtool"), *map(str, words))
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)


@pytest.mark.servers("promtool")
def test_files_are_valid() -> None:
    """Prometheus takes the rule files, without a word of complaint."""
    checked = promtool("check", "rules", "--lint=all", "--lint-fatal", *FILES)

    assert (0, "") == (checked.returncode, checked.stderr)


@pytest.mark.servers("promtool")
@pytest.mark.parametrize("case", [pytest.param(case, id=case.stem) for case in CASES])
def test_what_fires(case: Path) -> None:
    """Alerts fire when they should, stay silent when they should, and resolve."""
    tried = promtool("test", "rules", case)

    assert tried.returncode == 0, tried.stdout + tried.stderr


@cache
def asked(kind: str) -> tuple[Mapping[str, Any], ...]:
    """Return all that promtool is asked of this kind, with what it should answer."""
    tests = [test for case in CASES for test in yaml.safe_load(case.read_text())["tests"]]
    return tuple(one for test in tests for one in test.get(kind, ()))


@pytest.mark.parametrize("alert", sorted({rule.name for rule in alerts()}))
def test_every_alert_is_tried(alert: str) -> None:
    """Each alert has a moment at which it is expected to fire, and one after it at which it is not."""
    moments = [one for one in asked("promql_expr_test") if f'"{alert}"' in one["expr"]]

    assert {True, False} == {bool(one["exp_samples"]) for one in moments}
    assert any(
        before["exp_samples"] and not after["exp_samples"] and before["expr"] == after["expr"]
        for before, after in itertools.pairwise(moments)
    )


@pytest.mark.parametrize("alert", sorted({rule.name for rule in alerts()}))
def test_every_alert_is_read(alert: str) -> None:
    """What each alert says is written down as it is read, with the labels of a target or an exporter in it."""
    read = [one for one in asked("alert_rule_test") if one["alertname"] == alert]

    assert all(one["exp_alerts"] for one in read)
    assert read


def family_of(metric: str) -> Family:
    """Return the family that a series belongs to.

    Raises:
        KeyError: there is none.
    """
    for family in TABLE:
        parts = ("_bucket", "_count", "_sum") if family.kind is Kind.HISTOGRAM else ("",)
        if metric in {family.full_name + part for part in parts}:
            return family
    raise KeyError(metric)


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in rules()])
def test_names_exist(rule: Rule) -> None:
    """Every metric, label and label value in a rule and in its annotations is one that the exporter has."""
    known = SCRAPED | {label for family in TABLE for label in family.labels}
    for expression in (rule.expression, *rule.queries):
        assert listed_labels(expression) <= known
        for selector in selectors(expression):
            labels = {*SCRAPED, *family_of(selector.metric).labels}
            for label, value in selector.matchers:
                assert label in labels, f"{selector.metric} has no label {label}"
                if label in VALUES and value != "%q":
                    assert set(value.split("|")) <= VALUES[label]


def test_recorded_names_exist() -> None:
    """Every recorded series that a rule reads is one that a rule writes, and every threshold is used."""
    written = {rule.name for rule in rules() if not rule.alert}
    read = {name for rule in rules() for name in recorded(rule.expression)}

    assert read <= written
    assert {name for name in written if name.endswith(":threshold")} <= read


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in alerts()])
def test_alerts_are_whole(rule: Rule) -> None:
    """An alert has all that whoever is woken needs, and its numbers stand with the other thresholds."""
    assert rule.name.startswith("Tlsprobe")
    assert rule.settings["labels"].keys() == {"severity"}
    assert rule.settings["labels"]["severity"] in {"critical", "warning", "info"}
    assert {"for", "keep_firing_for"} <= rule.settings.keys()
    assert {"summary", "description", "runbook_url"} == rule.settings["annotations"].keys()
    assert rule.settings["annotations"]["runbook_url"].endswith(f"/{rule.name}.md")
    assert numbers(rule.expression) <= {"0", "1"}


def test_runbooks() -> None:
    """Each alert has a runbook, and each runbook an alert."""
    assert {rule.name for rule in alerts()} == {path.stem for path in RUNBOOKS.glob("Tlsprobe*.md")}


@pytest.mark.parametrize(
    "runbook", [pytest.param(path, id=path.stem) for path in sorted(RUNBOOKS.glob("Tlsprobe*.md"))]
)
def test_runbooks_are_whole(runbook: Path) -> None:
    """A runbook says what the alert means, whom it hurts, how to find the cause and how to mend it."""
    text = runbook.read_text()

    assert text.startswith(f"# {runbook.stem}\n")
    assert ["Meaning", "Impact", "Diagnosis", "Mitigation"] == [
        line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")
    ]


def test_every_tls_version_has_owner_labels() -> None:
    """The series that carries owners' labels is there for each TLS version that can be probed."""
    (rule,) = [rule for rule in rules() if rule.name == "target_tls:tlsprobe_target_info:max"]

    assert all(f'"tls", "{version}"' in rule.expression for version in TlsVersion)


@pytest.mark.parametrize("page", [pytest.param(path, id=path.stem) for path in sorted(RUNBOOKS.glob("Tlsprobe*.md"))])
def test_runbooks_name_what_exists(page: Path) -> None:
    """A query in a runbook can be pasted: its metrics, labels and recorded series are there."""
    text = page.read_text()
    written = {rule.name for rule in rules() if not rule.alert}

    assert recorded(text) <= written
    for selector in selectors(text):
        labels = {*SCRAPED, *family_of(selector.metric).labels}
        assert {label for label, _ in selector.matchers} <= labels


def test_every_alert_is_listed() -> None:
    """The page about alerts has one row for each, and none for anything else."""
    listed = re.findall(r"^\| \[(\w+)\]\(runbooks/\1\.md\) \| ([a-z, ]+) \|", ALERTS.read_text(), flags=re.MULTILINE)
    severities: dict[str, list[str]] = {}
    for rule in alerts():
        severities.setdefault(rule.name, []).append(rule.settings["labels"]["severity"])

    assert {name: ", ".join(found) for name, found in severities.items()} == dict(listed)
