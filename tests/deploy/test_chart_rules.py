"""The chart's rules are those of deploy/prometheus, with what the values change in them."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.chart import Object, find, render
from tests.rules.rulefiles import FILES
from tests.servers.process import find_program

ONE = "TlsprobeTicketKeysSplit"


def groups(**settings: object) -> list[dict[str, Any]]:
    """Return the rule groups that these settings of prometheusRule lead to."""
    found: list[dict[str, Any]] = find(render({"prometheusRule": {"enabled": True, **settings}}), "PrometheusRule")[
        "spec"
    ]["groups"]
    return found


def alert(name: str, **settings: object) -> Object:
    """Return one alert."""
    (found,) = [rule for group in groups(**settings) for rule in group["rules"] if rule.get("alert") == name]
    return dict(found)


def shipped() -> list[dict[str, Any]]:
    """Return the groups as they are shipped, with numbers as texts, which the operator asks for."""
    read = [group for file in sorted(FILES, reverse=True) for group in yaml.safe_load(file.read_text())["groups"]]
    return [{**group, "rules": [{**rule, "expr": str(rule["expr"])} for rule in group["rules"]]} for group in read]


def test_nothing_is_changed_unasked() -> None:
    """Each rule is there, to the letter, in the order in which they need each other."""
    assert shipped() == groups()


@pytest.mark.servers("promtool")
def test_prometheus_takes_them(tmp_path: Path) -> None:
    """Promtool finds no mistake, also with thresholds and texts that were changed."""
    file = tmp_path / "rules.yaml"
    changed = groups(
        thresholds={"certificate_left_seconds": 1_209_600, "resumption_ratio": 0.95},
        extraLabels={"team": "edge"},
        runbookUrl="https://wiki.example.com/",
    )
    file.write_text(yaml.safe_dump({"groups": changed}))
    found = subprocess.run(
        [find_program("promtool"), "check", "rules", file], capture_output=True, text=True, check=False
    )

    assert 0 == found.returncode, found.stderr
    assert "expr: '1209600'" in file.read_text()


def test_an_alert_can_be_switched_off() -> None:
    """It is gone, and all others stay."""
    left = [
        rule["alert"]
        for group in groups(alerts={ONE: {"enabled": False}})
        for rule in group["rules"]
        if "alert" in rule
    ]
    every = [rule["alert"] for group in shipped() for rule in group["rules"] if "alert" in rule]

    assert ONE in every
    assert [name for name in every if name != ONE] == left


def test_an_alert_can_be_changed() -> None:
    """What is said of one alert wins over what is said of all, and the rest stays."""
    own = {"severity": "critical", "for": "10m", "keepFiringFor": "1h", "expr": "up == 0", "labels": {"team": "own"}}
    changed = alert(ONE, alerts={ONE: own}, extraLabels={"team": "edge", "area": "tls"}, runbookUrl="https://wiki/")
    before = alert(ONE)

    assert {"severity": "critical", "team": "own", "area": "tls"} == changed["labels"]
    assert ("10m", "1h", "up == 0") == (changed["for"], changed["keep_firing_for"], changed["expr"])
    assert {**before["annotations"], "runbook_url": f"https://wiki/{ONE}.md"} == changed["annotations"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({"alerting": False}, ["tlsprobe-recording"], id="no alerts"),
        pytest.param({"recording": False}, ["tlsprobe-alerts"], id="no recording"),
        pytest.param(
            {"extraGroups": [{"name": "own", "rules": []}], "alerting": False, "recording": False}, ["own"], id="own"
        ),
    ],
)
def test_groups_can_be_chosen(settings: dict[str, object], expected: list[str]) -> None:
    """Recording rules, alerts and one's own go separately."""
    assert expected == [group["name"] for group in groups(**settings)]
