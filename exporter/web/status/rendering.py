"""Makes the bodies of the status pages, in a thread: this is imported when the first of them is asked for.

A daemon that nobody looks at need not carry what draws pages.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from types import MappingProxyType

from exporter.web.status.api import overview_document, rank, summary_document, target_document
from exporter.web.status.choice import Choice
from exporter.web.status.detail import render_target
from exporter.web.status.facts import Story
from exporter.web.status.frame import Site, page
from exporter.web.status.html import element
from exporter.web.status.kept import Kept
from exporter.web.status.overview import draw_cells, render_overview
from exporter.web.status.words import TONES

_COLOURS = MappingProxyType(
    {"down": "#b00020", "bad": "#d93025", "notice": "#c77700", "mute": "#80868b", "well": "#188038"}
)
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="13" fill="{}"/>'
    '<path d="M10 16.5l4.5 4.5 8-9" fill="none" stroke="#fff" stroke-width="3"/></svg>'
)
_FILES = MappingProxyType({"status.css": "text/css", "status.js": "text/javascript"})


class Overviews:
    """Makes what tells of all targets; what stands in it of each is kept until there is news of it."""

    def __init__(self) -> None:
        self._cells = Kept(draw_cells)
        self._summaries = Kept(_spell_summary)

    def page(self, site: Site, stories: Sequence[Story], targets: int, wanted: tuple[str, str]) -> bytes:
        """Return the page; `wanted` is a part of a name and a state, as they were asked for."""
        self._cells.forget_others(stories)
        return render_overview(site, stories, targets, Choice.of(*wanted), self._cells).encode()

    def json(self, stories: Sequence[Story], version: str, now: float, wanted: tuple[str, str]) -> bytes:
        """Return the document of all targets that are wanted, as for the page.

        Raises:
            ValueError: there is no such state.
        """
        choice = Choice.of(*wanted)
        if choice.unknown:
            raise ValueError(choice.explain())
        self._summaries.forget_others(stories)
        shown = rank([story for story in stories if choice.holds(story, now)], now)
        frame = _spell(overview_document((), version, now))
        if not shown:
            return frame
        begin, _, end = frame.rpartition(b"]")
        return b"".join((begin, b"\n", b",\n".join(self._summaries.get(story, now) for story in shown), b"\n ]", end))


def _spell_summary(story: Story, now: float) -> bytes:
    """Return a target's part of the document, as deep within as it stands there."""
    return b"  " + json.dumps(summary_document(story, now), indent=1).replace("\n", "\n  ").encode()


def target_page(site: Site, story: Story) -> bytes:
    """Return the page of one."""
    return render_target(site, story).encode()


def missing_page(site: Site, name: str) -> bytes:
    """Return the page that says that there is no such target."""
    told = (
        element("h1", "No such target"),
        element("p", f"Nothing is probed under the name {name!r}.", class_="lead"),
        element("p", element("a", "All targets", href=site.root)),
    )
    return page(site, "no such target", None, *told).encode()


def target_json(story: Story, now: float) -> bytes:
    """Return the document of one."""
    return _spell(target_document(story, now))


def _spell(document: object) -> bytes:
    return json.dumps(document, indent=1).encode() + b"\n"


def asset(name: str) -> tuple[bytes, str] | None:
    """Return a style sheet, script or icon with its content type, None where there is none of that name."""
    if name in _FILES:
        return files("exporter.web.status").joinpath("assets", name).read_bytes(), _FILES[name]
    mood = name.removesuffix(".svg")
    if name.endswith(".svg") and mood in {mood for mood, _ in TONES.values()}:
        return _ICON.format(_COLOURS[mood]).encode(), "image/svg+xml"
    return None
