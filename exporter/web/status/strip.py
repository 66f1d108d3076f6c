"""A target's last rounds in one small strip: a bar for each, as high as the share of tickets that were accepted."""

from collections.abc import Sequence

from exporter.model.target import TlsVersion
from exporter.web.status.facts import Point, RoundPoint
from exporter.web.status.html import Html, element

_SHOWN = 30
_HEIGHT = 24


def bar_mood(point: Point) -> str:
    """Return the class of a round's bar: refusals are bad unless they are meant."""
    if point.offers and point.hits == point.offers:
        return "bar-well"
    return "bar-mute" if point.meant or not point.offers else "bar-bad"


def draw_strip(rounds: Sequence[RoundPoint], version: TlsVersion) -> Html | None:
    """Return the strip, None where there is nothing to draw."""
    shown = [point for each in rounds[-_SHOWN:] if (point := each.of(version)) is not None]
    if not shown:
        return None
    width = 100 / _SHOWN
    first = _SHOWN - len(shown)
    bars = []
    for number, point in enumerate(shown):
        share = point.hits / point.offers if point.offers else 0.0
        height = max(2.0, share * _HEIGHT)
        mood = bar_mood(point)
        x, y = f"{(first + number) * width:.2f}%", f"{_HEIGHT - height:.1f}"
        bars.append(element("rect", x=x, y=y, width=f"{width * 0.8:.2f}%", height=f"{height:.1f}", class_=mood))
    whole = sum(point.offers > 0 and point.hits == point.offers for point in shown)
    told = f"{whole} of the last {len(shown)} rounds resumed whatever was offered"
    return element("svg", *bars, class_="strip", height=str(_HEIGHT), role="img", aria_label=told)
