"""Which targets the first page shows when it is asked for some."""

import json
from dataclasses import replace

import pytest

from exporter.model.target import Address, Target
from exporter.web.status.choice import Choice
from exporter.web.status.facts import Story, Tone
from tests.metrics.rounds import target
from tests.web.client import fetch
from tests.web.status.test_history import fleet
from tests.web.status.watching import watching

LABELLED = replace(target("Shop"), labels=(("team", "Payments"),))


def story(tone: Tone, of: Target = LABELLED) -> Story:
    """Return a story of that urgency."""
    return Story(target=of, tone=tone)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("", True, id="nothing asked for"),
        pytest.param("  sHo ", True, id="a part of the name"),
        pytest.param(str(LABELLED.endpoint), True, id="the address"),
        pytest.param("team: pay", True, id="a label"),
        pytest.param("Shop\n", True, id="a line's end that was copied, too"),
        pytest.param("cart", False, id="something else"),
    ],
)
def test_words(words: str, expected: bool) -> None:
    """A target is shown where the words stand in its name, its address or a label."""
    assert Choice.of(words, "").holds(story(Tone.WELL), 0.0) is expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param("", set(Tone), id="any"),
        pytest.param("unwell", set(Tone) - {Tone.WELL}, id="not well"),
        pytest.param("finding", {Tone.FINDING}, id="one"),
        pytest.param("<script>", set(Tone), id="no state"),
    ],
)
def test_state(state: str, expected: set[Tone]) -> None:
    """A state is one of those that the page knows; another one is any."""
    assert {tone for tone in Tone if Choice.of("", state).holds(story(tone), 0.0)} == expected


@pytest.mark.parametrize(
    ("query", "shown", "words"),
    [
        pytest.param("", ["cart", "till"], "", id="all"),
        pytest.param("?q=TIL", ["till"], "1 of 2 shown", id="a name"),
        pytest.param("?q=&state=waiting", ["till"], "1 of 2 shown", id="a state"),
        pytest.param("?q=%22%3E%3Cscript%3E", [], "0 of 2 shown", id="a script"),
        pytest.param(
            "?state=bogus",
            ["cart", "till"],
            "2 shown: there is no state &#x27;bogus&#x27;; there are unwell, down, finding, changing, waiting, well",
            id="no such state",
        ),
    ],
)
async def test_page(query: str, shown: list[str], words: str) -> None:
    """The page without scripts shows what its query asks for, and still counts them all."""
    async with watching(target("till"), target("cart")) as (url, watcher):
        watcher.history.add(fleet(0, name="cart"))
        host, port = url.removeprefix("http://").split(":")
        answer = await fetch(Address(host, int(port)), f"/{query}", Accept_Encoding="identity")
    page = answer.body.decode()

    assert [name for name in ("cart", "till") if f'href="targets/{name}"' in page] == shown
    assert f'role="status">{words}</p>' in page
    assert "probing 2 targets" in page
    assert '"><script>' not in page
    assert "form-action 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("query", "status", "shown"),
    [
        pytest.param("", 200, ["cart", "till"], id="all"),
        pytest.param("?q=TIL", 200, ["till"], id="a name"),
        pytest.param("?state=waiting&q=cart", 200, [], id="a state and a name"),
        pytest.param("?state=bogus", 400, [], id="no such state"),
    ],
)
async def test_document(query: str, status: int, shown: list[str]) -> None:
    """The API's list takes the same query as the page, and refuses a state that is none."""
    async with watching(target("till"), target("cart")) as (url, watcher):
        watcher.history.add(fleet(0, name="cart"))
        host, port = url.removeprefix("http://").split(":")
        answer = await fetch(Address(host, int(port)), f"/api/v1/targets{query}", Accept_Encoding="identity")
    document = json.loads(answer.body)

    assert answer.status == status
    assert sorted(one["target"] for one in document.get("targets", ())) == shown
    assert ("there are unwell, down" in document.get("error", "")) is (status == 400)
