"""What tells of all targets, drawn for each once a round."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from exporter.web.status.api import overview_document
from exporter.web.status.choice import Choice
from exporter.web.status.facts import Story
from exporter.web.status.frame import Site
from exporter.web.status.history import History
from exporter.web.status.kept import Kept
from exporter.web.status.overview import render_overview
from exporter.web.status.rendering import Overviews
from tests.metrics.cost import rounds
from tests.metrics.rounds import target

ALL = ("", "")


def told(number: int) -> History:
    """Return the history of some targets that had a round, and of one that had none."""
    history = History()
    for result in rounds(number):
        history.admit(result.target)
        history.add(result)
    history.admit(replace(target('hostile "\n]}'), labels=(("team", "]\n}"),)))
    return history


def soon(stories: Sequence[Story]) -> float:
    """Return a time at which the last rounds are over and none is overdue."""
    return max(story.last_end or 0.0 for story in stories) + 0.5


@pytest.mark.parametrize("number", [pytest.param(0, id="one"), pytest.param(5, id="several")])
@pytest.mark.parametrize("later", [pytest.param(0.0, id="in time"), pytest.param(1e6, id="overdue")])
def test_the_document_is_that_of_its_targets(number: int, later: float) -> None:
    """The pieces that are kept make the very document that is made at once, and the page likewise."""
    stories = told(number).all()
    now = soon(stories) + later
    site = Site("", "1.2]", now)
    overviews = Overviews()

    for _ in range(2):
        document = overviews.json(stories, "1.2]", now, ALL)
        page = overviews.page(site, stories, number, ALL)

        assert document.decode() == json.dumps(overview_document(stories, "1.2]", now), indent=1) + "\n"
        assert page.decode() == render_overview(site, stories, number, Choice())


def test_the_document_of_no_target() -> None:
    """Where there is none, the list is empty."""
    assert json.loads(Overviews().json((), "1", 5.0, ALL)) == {"version": "1", "now": 5.0, "targets": []}


def test_news_are_seen_at_once() -> None:
    """A round, another setting, a failure, and a target's coming and going are in the next document."""
    history, overviews = told(2), Overviews()
    one, other = rounds(2)

    def read(later: float = 0.0) -> dict[str, tuple[float | None, str, float]]:
        stories = history.all()
        document = json.loads(overviews.json(stories, "1", soon(stories) + later, ALL))
        return {each["target"]: (each["last_round"], each["status"], each["interval"]) for each in document["targets"]}

    before = read()
    history.add(replace(one, started=one.started + 1))
    history.admit(replace(other.target, interval=7.0))
    history.forget('hostile "\n]}')
    after = read()

    assert before.keys() - after.keys() == {'hostile "\n]}'}
    assert after[one.target.name][0] == (before[one.target.name][0] or 0) + 1
    assert after[other.target.name][2] == 7.0
    assert {status for _, status, _ in read(1e6).values()} == {"finding"}


def test_a_story_is_drawn_once() -> None:
    """As long as a story does not go on it is drawn once in time and once overdue, whoever else does."""
    drawn: list[tuple[str, float]] = []
    history = told(2)

    def draw(story: Story, now: float) -> str:
        drawn.append((story.target.name, now))
        return story.target.name

    kept = Kept(draw)
    one, other, hostile = history.all()
    now = soon((one, other))
    for at in (now, now + 1, now + 1e6, now + 1e6):
        assert kept.get(one, at) == one.target.name
    history.add(next(iter(rounds(1))))
    again, same, _ = history.all()
    assert kept.get(other, now) == kept.get(same, now)
    kept.get(again, now)
    kept.forget_others([hostile])
    kept.get(same, now)

    names = (one.target.name, other.target.name)
    assert drawn == [
        (names[0], now),
        (names[0], now + 1e6),
        (names[1], now),
        (names[0], now),
        (names[1], now),
    ]


def test_a_target_of_the_same_name() -> None:
    """One that went and came again is another story."""
    history, overviews = History(), Overviews()
    history.admit(target("shop"))
    overviews.json(history.all(), "1", 5.0, ALL)
    history.forget("shop")
    history.admit(replace(target("shop"), server_name="other.example.com"))

    (shown,) = json.loads(overviews.json(history.all(), "1", 5.0, ALL))["targets"]

    assert shown["server_name"] == "other.example.com"
