"""The handshakes of a target over time: full and resumed, and the share of offers that were accepted."""

import math
from collections.abc import Callable, Iterator, Sequence

from exporter.model.target import TlsVersion
from exporter.web.status.facts import Point, RoundPoint
from exporter.web.status.html import Html, element
from exporter.web.status.lanes import View, axis
from exporter.web.status.strip import bar_mood
from exporter.web.status.words import milliseconds, recent

_HEIGHT = 130
_TOP = 18  # pixels that stay free above the highest point, for the scale's own words
_STRIP = 16
_HIGHEST_SHARE = 0.98
"""The scale ends with this quantile: one lost packet would flatten all the rest."""

Read = Callable[[Point], float | None]
_Place = tuple[float, float]

_CURVES: tuple[tuple[str, str, Read], ...] = (
    ("full", "full handshake", lambda point: point.full),
    ("resumed", "resumed handshake", lambda point: point.resumed),
)


def draw_chart(version: TlsVersion, rounds: Sequence[RoundPoint], view: View) -> Html | None:
    """Return the chart of a TLS version, None where no handshake was timed."""
    values = sorted(value for _, _, read in _CURVES for _, value in _series(rounds, version, read) if value is not None)
    if not values:
        return None
    top = _round_up(values[math.ceil(len(values) * _HIGHEST_SHARE) - 1])
    over = sum(value > top for value in values)
    curves = [drawn for kind, _, read in _CURVES for drawn in _curve(kind, rounds, version, read, top, view)]
    svg = element(
        "svg", *_grid(top), *curves, class_="chart", height=str(_HEIGHT), role="img", aria_label=_told(version, rounds)
    )
    caption = element("figcaption", f"TLS {version}", *_keys(version, rounds))
    note = element("p", f"{over} slower than the scale, drawn at its top", class_="note") if over else None
    return element("figure", caption, svg, _strip(version, rounds, view), axis(view), note, class_="drawing")


def _series(rounds: Sequence[RoundPoint], version: TlsVersion, read: Read) -> Iterator[tuple[float, float | None]]:
    for each in rounds:
        point = each.of(version)
        yield each.started, None if point is None else read(point)


def _round_up(value: float) -> float:
    """Return the next round figure that is not below."""
    unit = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1e-3
    return next(unit * step for step in (1, 1.5, 2, 3, 4, 5, 7, 10) if unit * step >= value * 0.999)


def _grid(top: float) -> Iterator[Html]:
    for share in (0.0, 0.5, 1.0):
        y = _y(share * top, top)
        yield element("line", x1="0", x2="100%", y1=f"{y:.1f}", y2=f"{y:.1f}", class_="grid")
        yield element("text", milliseconds(share * top) if share else "0", x="2", y=f"{y - 3:.1f}", class_="scale")


def _y(value: float, top: float) -> float:
    return _HEIGHT - 2 - (_HEIGHT - _TOP - 2) * min(1.0, value / top)


def _curve(
    kind: str, rounds: Sequence[RoundPoint], version: TlsVersion, read: Read, top: float, view: View
) -> Iterator[Html]:
    """Yield the pieces of a curve, which has a gap where a round had no figure."""
    pieces: list[list[_Place]] = [[]]
    for at, value in _series(rounds, version, read):
        if value is None:
            pieces.append([])
        else:
            pieces[-1].append((view.place(at), _y(value, top)))
    for piece in pieces:
        if len(piece) > 1:
            yield _line(kind, piece)
        elif piece:
            ((x, y),) = piece
            yield element("circle", cx=f"{x:.2f}%", cy=f"{y:.1f}", r="2.5", class_=f"dot {kind}")
    if pieces[-1]:
        x, y = pieces[-1][-1]
        yield element("circle", cx=f"{x:.2f}%", cy=f"{y:.1f}", r="3.5", class_=f"dot {kind}")


def _line(kind: str, places: Sequence[_Place]) -> Html:
    """Return a line; the inner drawing stretches with the width, and its stroke does not."""
    points = " ".join(f"{x:.2f},{y:.1f}" for x, y in places)
    line = element("polyline", points=points, vector_effect="non-scaling-stroke", class_=f"line {kind}")
    return element(
        "svg", line, width="100%", height=str(_HEIGHT), viewBox=f"0 0 100 {_HEIGHT}", preserveAspectRatio="none"
    )


def _strip(version: TlsVersion, rounds: Sequence[RoundPoint], view: View) -> Html:
    """Return, below the curves, how many of each round's offers were accepted."""
    bars = []
    for number, each in enumerate(rounds):
        point = each.of(version)
        if point is None or not point.offers:
            continue
        x = view.place(each.started)
        until = rounds[number + 1].started if number + 1 < len(rounds) else each.started + each.elapsed
        height = max(2.0, _STRIP * point.hits / point.offers)
        bars.append(
            element(
                "rect",
                x=f"{x:.2f}%",
                y=f"{_STRIP - height:.1f}",
                width=f"{max(0.3, (view.place(until) - x) * 0.85):.2f}%",
                height=f"{height:.1f}",
                class_=bar_mood(point),
            )
        )
    _, _, offers, hits = recent(rounds, version)
    told = f"Share of offered tickets that were accepted, round by round; lately {hits} of {offers}"
    return element("svg", *bars, class_="strip wide", height=str(_STRIP), role="img", aria_label=told)


def _keys(version: TlsVersion, rounds: Sequence[RoundPoint]) -> Iterator[Html]:
    full, resumed, offers, hits = recent(rounds, version)
    for kind, words, value in (("full", "full", full), ("resumed", "resumed", resumed)):
        yield element(
            "span", element("span", class_=f"swatch {kind}"), f"{words} {milliseconds(value)}", class_="entry"
        )
    yield element(
        "span", element("span", class_="swatch accepted"), f"{hits} of {offers} tickets accepted", class_="entry"
    )


def _told(version: TlsVersion, rounds: Sequence[RoundPoint]) -> str:
    full, resumed, _, _ = recent(rounds, version)
    return (
        f"Handshake times over {len(rounds)} rounds of TLS {version}: lately {milliseconds(full)} full, "
        f"{milliseconds(resumed)} resumed"
    )
