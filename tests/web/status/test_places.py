"""What an orchestrator says of backends, on the pages and for programs."""

import json
import re
from dataclasses import replace

import pytest

from exporter.model.source import BackendFacts
from exporter.model.target import Address
from exporter.web.status.history import History
from exporter.web.status.places import condition
from tests.metrics.rounds import A, B, C
from tests.web.client import fetch
from tests.web.status.test_history import fleet
from tests.web.status.watching import watching

HOSTILE = "<img src=x onerror=alert(1)>\u202e"
DRAINING = Address("192.0.2.200", 443)
FACTS = {
    A: BackendFacts(pod="web-a", node="node-1", zone="zone-a"),
    B: BackendFacts(pod=HOSTILE, node="n" * 300, zone="zone-b"),
    DRAINING: BackendFacts(ready=False, serving=True, terminating=True, pod="web-z"),
}
PLACED = replace(fleet(0), facts=FACTS, left_out=7)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(BackendFacts(), "ready", id="ready"),
        pytest.param(BackendFacts(ready=False), "not ready, but serving", id="not ready"),
        pytest.param(BackendFacts(ready=False, serving=False), "not ready", id="out of service"),
        pytest.param(BackendFacts(ready=False, terminating=True), "terminating, still serving", id="draining"),
        pytest.param(BackendFacts(ready=False, serving=False, terminating=True), "terminating", id="going"),
    ],
)
def test_conditions(facts: BackendFacts, expected: str) -> None:
    """A condition is told in words, not by colour alone."""
    assert condition(facts) == expected


async def test_page_and_document() -> None:
    """Each backend has a row with its condition, pod, node and zone; foreign names are text, others are counted."""
    async with watching(PLACED.target) as (url, watcher):
        watcher.history.add(PLACED)
        host, port = url.removeprefix("http://").split(":")
        where = Address(host, int(port))
        page = (await fetch(where, "/targets/shop", Accept_Encoding="identity")).body.decode()
        document = json.loads((await fetch(where, "/api/v1/targets/shop")).body)

    (table,) = re.findall(r'<section id="places".*?</section>', page, re.DOTALL)
    assert table.count('<tr class="place">') == len(FACTS)
    assert "&lt;img src=x onerror=alert(1)&gt;\\u202e" in table
    assert "<img" not in page
    assert "terminating, still serving" in table
    assert table.count("not probed</small>") == 1
    assert "7 more addresses are not probed: max_backends is 256." in table
    assert document["left_out"] == 7
    assert document["places"][str(DRAINING)] == {
        "probed": False, "ready": False, "serving": True, "terminating": True, "pod": "web-z", "node": "", "zone": "",
    }  # fmt: skip
    assert document["places"][str(B)]["pod"] == HOSTILE
    assert len(document["places"][str(B)]["node"]) == 253


async def test_nothing_told() -> None:
    """A target whose backends nobody says anything of has no such table."""
    async with watching(fleet(0).target) as (url, watcher):
        watcher.history.add(fleet(0))
        host, port = url.removeprefix("http://").split(":")
        page = (await fetch(Address(host, int(port)), "/targets/shop", Accept_Encoding="identity")).body.decode()

    assert 'id="places"' not in page


def test_too_many() -> None:
    """Of too many, those that are not ready are kept first, and the others are counted."""
    many = {Address(f"10.0.{number >> 8}.{number & 255}", 443): BackendFacts() for number in range(300)}
    history = History()
    history.add(replace(fleet(0), facts={**many, **FACTS, C: BackendFacts(ready=False)}))
    story = history.find("shop")

    assert story is not None
    assert list(story.places)[:4] == [C, DRAINING, A, B]
    assert len(story.places) + story.unplaced == 304
    assert len(story.places) == 48
