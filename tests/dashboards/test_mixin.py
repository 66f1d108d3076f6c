"""The mixin, evaluated by jsonnet."""

import json
from typing import Any

import _jsonnet
import pytest
import yaml

from tests.dashboards.boards import BOARDS
from tests.rules.rulefiles import FOLDER

WIKI = "https://wiki.acme.example/tls"


def evaluate(change: str, field: str) -> Any:
    """Return a field of the mixin, changed as those who use it do."""
    return json.loads(_jsonnet.evaluate_snippet("here", f"((import 'grafana/mixin.libsonnet') + {change}).{field}"))


def test_dashboards() -> None:
    """It hands out all dashboards, as they are in their files."""
    assert {f"{uid}.json": board for uid, board in BOARDS.items()} == evaluate("{}", "grafanaDashboards")


@pytest.mark.parametrize(
    ("field", "file"), [("prometheusAlerts", "alerts.yaml"), ("prometheusRules", "recording.yaml")]
)
def test_rules(field: str, file: str) -> None:
    """It hands out the rules, as they are in their files, with each expression as a text."""
    groups = yaml.safe_load((FOLDER / file).read_text())["groups"]
    expected = [group | {"rules": [rule | {"expr": str(rule["expr"])} for rule in group["rules"]]} for group in groups]

    assert {"groups": expected} == evaluate("{}", field)


@pytest.mark.parametrize("field", ["grafanaDashboards", "prometheusAlerts"])
def test_runbooks_can_be_elsewhere(field: str) -> None:
    """One setting puts all links to runbooks to where they are kept."""
    text = json.dumps(evaluate(f"{{_config+:: {{runbooks: '{WIKI}'}}}}", field))

    assert WIKI in text
    assert "tlsprobe.example" not in text


def test_tags() -> None:
    """Dashboards keep the tag that links gather them by when they are given others."""
    boards = evaluate("{_config+:: {tags: ['edge']}}", "grafanaDashboards")

    assert all(board["tags"] == ["tlsprobe", "edge"] for board in boards.values())
