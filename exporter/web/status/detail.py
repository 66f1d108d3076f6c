"""The page of one target."""

from collections.abc import Iterator, Mapping

from exporter.model.target import Address, TlsVersion
from exporter.web.status.chart import draw_chart
from exporter.web.status.facts import Story, Tone, VersionFacts
from exporter.web.status.frame import Site, chip, page, section
from exporter.web.status.html import Html, element, join
from exporter.web.status.lanes import View, draw_lanes
from exporter.web.status.matrix import draw_matrix, legend
from exporter.web.status.places import tell_places
from exporter.web.status.tables import tell_connections, tell_events, tell_handshakes, tell_log, tell_troubles
from exporter.web.status.words import (
    TONES,
    duration,
    letter,
    milliseconds,
    overdue,
    recent,
    speaks,
    state_class,
    state_words,
    tone_of,
)


def render_target(site: Site, story: Story) -> str:
    """Return the page."""
    tone = tone_of(story, site.now)
    content = list(_sections(site, story)) if story.rounds else [_nothing_yet(story)]
    return page(site, story.target.name, tone, _heading(site, story, tone), *content)


def _heading(site: Site, story: Story, tone: Tone) -> Html:
    target = story.target
    mood, word = TONES[tone]
    number = "1 backend" if len(story.backends) == 1 else f"{len(story.backends)} backends"
    words = [str(target.endpoint)]
    if target.server_name != target.endpoint.host:
        words.append(f"server name {target.server_name}")
    if story.last_end is not None:
        words += [number, f"a round every {duration(target.interval)}"]
        words.append(f"the last one {duration(site.now - story.last_end)} ago")
    labels = [element("li", f"{name}: {value}") for name, value in target.labels]
    return join(
        element("p", element("a", "All targets", href=site.root or "./"), class_="crumb"),
        element("h1", target.name, " ", chip(word, mood)),
        element("p", ", ".join(words), class_="lead", id="lead"),
        element("ul", *labels, class_="labels", aria_label="Labels") if labels else None,
        element("p", "Its rounds no longer come: what is said here may not hold any more.", class_="why alarm")
        if overdue(story, site.now)
        else None,
    )


def _nothing_yet(story: Story) -> Html:
    return join(
        section("verdict", "Verdict", element("p", "No round has been finished yet.", class_="note")),
        tell_troubles(story) if story.troubles else None,
    )


def _sections(site: Site, story: Story) -> Iterator[Html | None]:
    spoken = {version: facts for version, facts in sorted(story.versions.items(), reverse=True) if speaks(facts)}
    view = View(story.rounds[0].started, max(site.now, story.rounds[-1].started + story.target.interval / 4))
    yield _verdicts(story)
    if spoken:
        number = story.rounds[-1].number
        matrices = [draw_matrix(version, facts, number) for version, facts in spoken.items()]
        yield section(
            "matrix",
            "Who accepts whose ticket",
            _left_out(story),
            element("div", *matrices, class_="pair"),
            legend(meant=all(facts.meant for facts in spoken.values()))
            if any(facts.backends for facts in spoken.values())
            else None,
        )
    yield tell_places(story, _letters(spoken))
    if spoken:
        lanes = [draw_lanes(version, facts, view) for version, facts in spoken.items()]
        yield section("keys", "Ticket keys over time", *lanes)
        charts = [draw_chart(version, story.rounds, view) for version in spoken]
        drawn = (
            element("div", *charts, class_="pair") if any(charts) else element("p", "There was none.", class_="note")
        )
        yield section("handshakes", "Handshakes", drawn)
    yield tell_events(story)
    yield tell_troubles(story)
    yield tell_handshakes(story, site.now)
    yield tell_connections(story)
    yield tell_log(story)


def _letters(spoken: Mapping[TlsVersion, VersionFacts]) -> Mapping[Address, str]:
    """Return the letters that backends have in the first matrix."""
    first = next(iter(spoken.values()), None)
    return {} if first is None else {backend: letter(number) for number, backend in enumerate(first.backends)}


def _verdicts(story: Story) -> Html:
    cards = [_card(story, version, facts) for version, facts in sorted(story.versions.items(), reverse=True)]
    remarks = [element("li", remark.text, class_="fine" if remark.well else "why") for remark in story.remarks]
    return section(
        "verdict",
        "Verdict",
        element("div", *cards, class_="pair"),
        element("ul", *remarks, class_="remarks") if remarks else None,
    )


def _card(story: Story, version: str, facts: VersionFacts) -> Html:
    mood = state_class(facts)
    text = facts.text.removeprefix(f"TLS {version}: ")
    return element(
        "article",
        element("h3", f"TLS {version} ", chip(state_words(facts), mood)),
        element("p", text[:1].upper() + text[1:]),
        element("p", facts.advice, class_="advice") if facts.advice else None,
        _figures(story, version) if speaks(facts) else None,
        class_=f"card {mood}",
    )


def _figures(story: Story, version: str) -> Html | None:
    key = next(known for known in story.versions if known == version)
    full, resumed, _, _ = recent(story.rounds, key)
    if full is None or resumed is None:
        return None
    saves = f"Resumed takes {milliseconds(resumed)}, full {milliseconds(full)}: {resumed / full:.2f} times as long."
    return element("p", saves, class_="fine")


def _left_out(story: Story) -> Html | None:
    """Say that a very large fleet is not shown whole."""
    shown = max((len(facts.backends) for facts in story.versions.values()), default=0)
    if shown >= len(story.backends):
        return None
    return element("p", f"{shown} of {len(story.backends)} backends, those that stand out among them.", class_="note")
