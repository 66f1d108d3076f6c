"""Times, states and figures as people read them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from statistics import median
from types import MappingProxyType
from urllib.parse import quote

from exporter.model.target import Target, TlsVersion
from exporter.model.verdicts import BackendState, TargetState
from exporter.web.status.facts import UNWELCOME, RoundPoint, Story, Tone, VersionFacts

RECENT = 10
"""Rounds from which figures are taken that are to be of now."""

TONES: Mapping[Tone, tuple[str, str]] = MappingProxyType(
    {
        Tone.DOWN: ("down", "down"),
        Tone.FINDING: ("bad", "finding"),
        Tone.NOTICE: ("notice", "changing"),
        Tone.WAITING: ("mute", "waiting"),
        Tone.WELL: ("well", "well"),
    }
)
"""Each tone's class and word."""

_DOT_NAMES = frozenset({".", ".."})


def tone_of(story: Story, now: float) -> Tone:
    """Return how urgent a target is at a moment: one whose rounds no longer come is a finding."""
    return min(story.tone, Tone.FINDING) if overdue(story, now) else story.tone


def overdue(story: Story, now: float) -> bool:
    """Tell whether the last round is so long ago that what it said may no longer hold."""
    end = story.last_end
    return end is not None and now - end > 2 * story.target.interval + story.target.timeout + 1


def state_class(facts: VersionFacts) -> str:
    """Return the class of a version's state."""
    if facts.state is TargetState.UNKNOWN or not speaks(facts):
        return "mute"
    if facts.state is TargetState.ROTATING and facts.healthy:
        return "notice"
    return "well" if facts.healthy else "bad"


def speaks(facts: VersionFacts) -> bool:
    """Tell whether any backend may speak the version."""
    return any(found.state is not BackendState.NOT_SPOKEN for found in facts.backends.values()) or not facts.backends


def state_words(facts: VersionFacts) -> str:
    """Return a version's state in words."""
    if not speaks(facts):
        return "not spoken"
    return f"{spaced(facts.state)}, as allowed" if facts.healthy and facts.state in UNWELCOME else spaced(facts.state)


def spaced(name: str) -> str:
    """Return a name from a closed list as words."""
    return name.replace("_", " ")


def milliseconds(seconds: float | None) -> str:
    """Return a time with the digits that tell something."""
    if seconds is None:
        return "-"
    figure = seconds * 1e3
    return f"{figure:.0f} ms" if figure >= 100 else f"{figure:.1f} ms" if figure >= 10 else f"{figure:.2f} ms"


def duration(seconds: float) -> str:
    """Return a length of time in its largest unit or two."""
    whole = int(max(0.0, seconds))
    if whole < 100:
        return f"{whole} s"
    if whole < 100 * 60:
        return f"{whole // 60} min"
    if whole < 48 * 3600:
        return f"{whole // 3600} h"
    return f"{whole // 86400} days"


def clock(at: float) -> str:
    """Return the time of day in UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"


def date(at: float) -> str:
    """Return a date and time in UTC, for a machine to read."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"


def address_of(target: Target) -> str:
    """Return a target's place in this site, to be put behind the path of the root."""
    name = quote(target.name, safe="")
    return f"targets/?name={name}" if target.name in _DOT_NAMES else f"targets/{name}"


def recent(rounds: Iterable[RoundPoint], version: TlsVersion) -> tuple[float | None, float | None, int, int]:
    """Return what the last rounds showed of a version: median full and resumed seconds, offers and hits."""
    points = [point for each in tuple(rounds)[-RECENT:] if (point := each.of(version)) is not None]
    full = [point.full for point in points if point.full is not None]
    resumed = [point.resumed for point in points if point.resumed is not None]
    return (
        median(full) if full else None,
        median(resumed) if resumed else None,
        sum(point.offers for point in points),
        sum(point.hits for point in points),
    )


def letter(number: int) -> str:
    """Return A to Z, and then AA and so on."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
