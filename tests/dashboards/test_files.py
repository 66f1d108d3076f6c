"""The JSON: current, whole, and such that Grafana's own models take it."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from grafana.__main__ import FOLDER, FRAMES
from grafana.frame import Frame
from grafana.words import SCALES, Scale
from tests.dashboards.boards import BOARDS, Panel, panels
from tests.rules.rulefiles import alerts

PANELS = [pytest.param(panel, id=panel.name) for panel in panels()]
UIDS = {"tlsprobe-fleet", "tlsprobe-target", "tlsprobe-waves", "tlsprobe-exporter"}
"""They never change, since links and bookmarks name them."""
PAGE = Path("docs/dashboards.md")
UNITS = {"none", "short", "s", "percentunit", "bytes", "cps", "hex"}


@pytest.mark.parametrize("frame", [pytest.param(frame, id=frame.uid) for frame in FRAMES])
def test_files_are_current(frame: Frame) -> None:
    """The files are what the program makes; `python -m grafana` writes them."""
    assert frame.json == (FOLDER / f"{frame.uid}.json").read_text()


def test_uids() -> None:
    """There is one file for each dashboard, named after a uid that is there to stay."""
    assert UIDS == BOARDS.keys() == {board["uid"] for board in BOARDS.values()}


def test_page_lists_them() -> None:
    """The page about dashboards has a row for each, with its title."""
    listed = re.findall(r"^\| ([\w ]+) \| `([\w-]+)` \|", PAGE.read_text(), flags=re.MULTILINE)

    assert sorted((board["title"], uid) for uid, board in BOARDS.items()) == sorted(listed)


@pytest.mark.parametrize("uid", sorted(UIDS))
def test_models_take_it(uid: str) -> None:
    """Read into Grafana's models and written again, nothing is lost but the words of annotations, which they lack."""
    register_default_plugins()
    board = json.loads(json.dumps(BOARDS[uid]))
    for mark in board["annotations"]["list"]:
        for word in ("titleFormat", "textFormat", "tagKeys"):
            assert mark.pop(word)

    assert board == json.loads(json.dumps(Dashboard.from_json(board), cls=JSONEncoder))


@pytest.mark.parametrize("panel", PANELS)
def test_panels_are_whole(panel: Panel) -> None:
    """A panel says what it shows and in which unit, and reads from the data source that is chosen."""
    assert len(panel.content["description"]) > 20
    assert panel.content["description"].endswith(".")
    assert panel.content["fieldConfig"]["defaults"]["unit"] in UNITS
    assert panel.content["fieldConfig"]["defaults"]["noValue"]
    assert panel.content["fieldConfig"]["defaults"]["thresholds"]["steps"][0]["value"] is None
    assert panel.queries
    for source in (panel.content, *panel.queries.values()):
        assert source["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_panels_have_names_of_their_own() -> None:
    """No two panels of a dashboard have the same title and kind, and no two the same number."""
    for uid, board in BOARDS.items():
        numbers = [panel["id"] for panel in board["panels"]]
        titles = [(panel.title, panel.content["type"]) for panel in panels() if panel.board == uid]

        assert len(numbers) == len(set(numbers))
        assert len(titles) == len(set(titles))


@pytest.mark.parametrize("uid", sorted(UIDS))
def test_layout(uid: str) -> None:
    """Panels stay within the 24 columns, and none lies over another."""
    taken: set[tuple[int, int]] = set()
    for panel in BOARDS[uid]["panels"]:
        place = panel["gridPos"]
        cells = {
            (place["x"] + column, place["y"] + line)
            for column, line in itertools.product(range(place["w"]), range(place["h"]))
        }
        assert place["x"] + place["w"] <= 24
        assert not taken & cells, f"{panel['title']} lies over another panel"
        taken |= cells


def test_runbooks() -> None:
    """Each alert has a panel that leads to its runbook, and no panel leads to one that is missing."""
    linked = {
        re.fullmatch(r"\$\{runbooks:raw\}/(\w+)\.md", link["url"])
        for panel in panels()
        for link in panel.content.get("links", ())
    }

    assert {rule.name for rule in alerts()} == {found[1] for found in linked if found}
    assert None not in linked


@pytest.mark.parametrize("uid", sorted(UIDS))
def test_dashboards_lead_to_each_other(uid: str) -> None:
    """All bear the tag that the link at the top gathers, and links to a dashboard name one that is there."""
    board = BOARDS[uid]
    (link,) = board["links"]

    assert link["tags"] == ["tlsprobe"]
    assert board["tags"] == ["tlsprobe"]
    assert link["includeVars"]
    assert link["keepTime"]
    assert set(re.findall(r"/d/([\w-]+)", json.dumps(board))) <= UIDS


@pytest.mark.parametrize("uid", sorted(UIDS))
def test_variables(uid: str) -> None:
    """What a query, a link or a variable names is a variable of the dashboard, or one that Grafana has."""
    board = BOARDS[uid]
    own = {variable["name"] for variable in board["templating"]["list"]}
    named = set(re.findall(r"\$\{?(\w+)", json.dumps(board)))

    assert {"datasource", "runbooks", "cluster", "namespace"} <= own
    assert named - own <= {"__all", "__range", "__interval", "__rate_interval", "__data", "__url_time_range"}


@pytest.mark.parametrize("scale", [pytest.param(scale, id=scale.metric) for scale in SCALES])
def test_scales_are_whole(scale: Scale) -> None:
    """Each member of a closed list has its place in the order, and its word is what the place shows."""
    (kind,) = {type(value) for value in scale.colours}
    shown: dict[str, Any] = json.loads(json.dumps(scale.mapping, cls=JSONEncoder))["options"]

    assert set(kind) == set(scale.colours)
    assert [value.replace("_", " ") for value in scale.colours] == [each["text"] for each in shown.values()]
