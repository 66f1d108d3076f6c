"""The first page: all targets, the worst first."""

from collections import Counter
from collections.abc import Sequence

from exporter.model.target import TlsVersion
from exporter.web.status.choice import Choice, choice_form
from exporter.web.status.facts import Story, Tone
from exporter.web.status.frame import Site, chip, hidden, page, scrolling, section
from exporter.web.status.html import Html, element, join
from exporter.web.status.kept import Kept
from exporter.web.status.strip import draw_strip
from exporter.web.status.words import (
    TONES,
    address_of,
    duration,
    milliseconds,
    overdue,
    recent,
    speaks,
    state_class,
    state_words,
    tone_of,
)

_HEADINGS = ("Target", "State", "Backends", "Resumed", "Full, resumed", "Lately", "Last round")
_REASONS = 2


def render_overview(
    site: Site, stories: Sequence[Story], targets: int, choice: Choice, cells: Kept[Html] | None = None
) -> str:
    """Return the page. Its mood and its counts are those of all.

    Args:
        targets: how many are being probed.
        cells: what draw_cells() has made for earlier pages.
    """
    ranked = sorted(stories, key=lambda story: (tone_of(story, site.now), story.target.name))
    worst = tone_of(ranked[0], site.now) if ranked else Tone.WAITING
    number = "1 target" if targets == 1 else f"{targets} targets"
    shown = [story for story in ranked if choice.holds(story, site.now)]
    return page(
        site,
        "all targets",
        worst,
        element("h1", "Targets"),
        element("p", f"Version {site.version}, probing {number}.", class_="lead"),
        _tally(site, ranked),
        choice_form(choice),
        _found(choice, len(shown), len(ranked)),
        section("targets", "Worst first", _table(site, shown, len(ranked), cells or Kept(draw_cells))),
    )


def _found(choice: Choice, shown: int, known: int) -> Html:
    words = "" if choice.all else f"{shown} of {known} shown"
    if choice.unknown:
        words = f"{known} shown: {choice.explain()}"
    return element("p", words, class_="note", id="found", role="status")


def _tally(site: Site, ranked: Sequence[Story]) -> Html:
    counts = Counter(tone_of(story, site.now) for story in ranked)
    tiles = [
        element("li", element("b", counts[tone]), element("span", word), class_=f"tile {mood}")
        for tone, (mood, word) in TONES.items()
        if counts[tone] or tone in {Tone.FINDING, Tone.WELL}
    ]
    return element("ul", *tiles, class_="tally", id="tally", aria_label="How many targets are in which state")


def _table(site: Site, shown: Sequence[Story], known: int, cells: Kept[Html]) -> Html:
    if not shown:
        words = "None is as asked for." if known else "No round has been finished yet."
        return element("p", words, class_="note")
    head = element("tr", *(element("th", heading, scope="col") for heading in _HEADINGS))
    rows = [_row(site, story, cells) for story in shown]
    table = element("table", element("thead", head), element("tbody", *rows), class_="targets")
    return scrolling("All targets, worst first", table)


def _row(site: Site, story: Story, cells: Kept[Html]) -> Html:
    mood, _ = TONES[tone_of(story, site.now)]
    return element("tr", cells.get(story, site.now), _cell("Last round", _age(site, story)), class_=f"row {mood}")


def draw_cells(story: Story, now: float) -> Html:
    """Return all cells of a row but the last, which is another each second."""
    mood, word = TONES[tone_of(story, now)]
    version = _telling_version(story)
    full, resumed, offers, hits = recent(story.rounds, version) if version else (None, None, 0, 0)
    where = element("a", story.target.name, href=address_of(story.target))
    return join(
        element("th", where, element("div", word, class_=f"word {mood}"), _reasons(story, now), scope="row"),
        _cell("State", *_states(story)),
        _cell("Backends", len(story.backends) if story.rounds else "-"),
        _cell("Resumed", _rate(offers, hits)),
        _cell("Full, resumed", _times(full, resumed)),
        _cell("Lately", draw_strip(story.rounds, version) if version else None),
    )


def _cell(label: str, *content: Html | str | int | None) -> Html:
    return element("td", *content, data_label=label)


def _telling_version(story: Story) -> TlsVersion | None:
    """Return the newest version that is spoken; figures of several are not to be mixed."""
    spoken = [version for version, facts in story.versions.items() if speaks(facts)]
    return max(spoken, default=None)


def _states(story: Story) -> list[Html]:
    if not story.versions:
        return [chip("waiting", "mute")]
    return [
        element("div", element("span", version, class_="tls"), chip(state_words(facts), state_class(facts)))
        for version, facts in sorted(story.versions.items(), reverse=True)
    ]


def _reasons(story: Story, now: float) -> Html:
    """Say in a line or two why a target is not well."""
    # Versions that tell the same are told once, by the newest.
    unwell = [facts for _, facts in sorted(story.versions.items()) if not facts.healthy]
    told = [facts.text for facts in reversed({facts.state: facts for facts in unwell}.values())]
    told += [remark.text for remark in (*story.remarks, *story.connections) if not remark.well]
    if story.tone <= Tone.FINDING and story.troubles and not told:
        trouble = story.troubles[-1]
        told.append(f"{trouble.backend or ''} {trouble.failure}".strip())
    if overdue(story, now):
        told.insert(0, "its rounds no longer come")
    return join(*(element("p", text, class_="why") for text in told[:_REASONS]))


def _rate(offers: int, hits: int) -> Html:
    if not offers:
        return element("span", "-", hidden(" nothing was offered"))
    share = 100 * hits / offers
    words = "100 %" if hits == offers else f"{min(share, 99.9):.1f} %" if share > 99 else f"{share:.0f} %"
    return join(element("b", words), element("small", f"{hits} of {offers}"))


def _times(full: float | None, resumed: float | None) -> Html:
    ratio = f"{resumed / full:.2f} times" if full and resumed else ""
    return join(
        element("b", f"{milliseconds(full)}, {milliseconds(resumed)}"), element("small", ratio) if ratio else None
    )


def _age(site: Site, story: Story) -> Html:
    if story.last_end is None:
        return element("span", "none yet")
    return element(
        "span", f"{duration(site.now - story.last_end)} ago", class_="late" if overdue(story, site.now) else None
    )
