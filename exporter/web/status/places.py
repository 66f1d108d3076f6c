"""Where a target's backends are, as an orchestrator tells it: pod, node and zone, and whether they are ready."""

from collections.abc import Iterator, Mapping

from exporter.model.source import BackendFacts as Place
from exporter.model.target import Address
from exporter.web.status.facts import Story
from exporter.web.status.frame import chip, scrolling, section
from exporter.web.status.html import Html, element

_HEADINGS = ("Backend", "Condition", "Pod", "Node", "Zone")


def tell_places(story: Story, letters: Mapping[Address, str]) -> Html | None:
    """Return the table, and how many addresses are beyond the bound; None where there is nothing to tell.

    Args:
        letters: those that backends have in the matrix.
    """
    if not story.places and not story.left_out:
        return None
    notes = [element("p", text, class_="note") for text in _notes(story)]
    head = element("tr", *(element("th", heading, scope="col") for heading in _HEADINGS))
    rows = [_row(story, backend, letters.get(backend)) for backend in story.places]
    table = element("table", element("thead", head), element("tbody", *rows), class_="plain places")
    shown = scrolling("Where its backends are", table) if rows else None
    return section("places", "Where its backends are", *notes, shown)


def condition(place: Place) -> str:
    """Return in words whether a backend is meant to get new connections."""
    if place.terminating:
        return "terminating, still serving" if place.serving else "terminating"
    if place.ready:
        return "ready"
    return "not ready, but serving" if place.serving else "not ready"


def _notes(story: Story) -> Iterator[str]:
    if story.left_out:
        most = story.target.probe.max_backends
        yield f"{story.left_out} more {_addresses(story.left_out)} not probed: max_backends is {most}."
    if story.unplaced:
        yield f"{story.unplaced} more {_addresses(story.unplaced)} not shown here."


def _addresses(number: int) -> str:
    return "address is" if number == 1 else "addresses are"


def _row(story: Story, backend: Address, letter: str | None) -> Html:
    place = story.places[backend]
    probed = backend in story.backends
    cells = (
        (
            chip(condition(place), "well" if place.ready else "notice"),
            None if probed else element("small", "not probed"),
        ),
        (place.pod or "-",),
        (place.node or "-",),
        (place.zone or "-",),
    )
    return element(
        "tr",
        element(
            "th",
            None if letter is None else element("span", letter, class_="letter"),
            element("span", str(backend), class_="address"),
            scope="row",
        ),
        *(element("td", *content, data_label=label) for label, content in zip(_HEADINGS[1:], cells, strict=True)),
        class_="place",
    )
