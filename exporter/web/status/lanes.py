"""Ticket keys over time: a lane for each backend, with the target's own state above them.

Places along a lane are percentages and heights are pixels, so that a drawing fills any width and its text keeps its
shape.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from exporter.model.target import Address
from exporter.model.verdicts import BackendState, TargetState
from exporter.web.status.facts import Span, StateSpan, VersionFacts
from exporter.web.status.frame import moment
from exporter.web.status.html import Html, element
from exporter.web.status.matrix import backend_mood
from exporter.web.status.words import clock, duration, letter, spaced

_HEIGHT = 26
_NARROWEST, _READABLE = 0.4, 3.0  # per cent of a lane
_KEEPS_KEY = frozenset({BackendState.RESUMES, BackendState.REFUSES, BackendState.MIXED, BackendState.KILLS})


Lasting = TypeVar("Lasting", Span, StateSpan)


@dataclass(frozen=True, slots=True)
class View:
    """The stretch of time that is drawn, in Unix seconds."""

    begin: float
    end: float

    def place(self, at: float) -> float:
        """Return where a moment lies, in per cent of the width."""
        length = max(self.end - self.begin, 1e-9)
        return min(100.0, max(0.0, 100 * (at - self.begin) / length))


@dataclass(frozen=True, slots=True)
class _Piece:
    since: float
    until: float
    mood: str
    text: str
    told: str


def draw_lanes(version: str, facts: VersionFacts, view: View) -> Html:
    """Return all lanes of a TLS version."""
    lanes = [_lane(element("span", "all together", class_="address"), _states(facts.states, view), view, "together")]
    order = {backend: number for number, backend in enumerate(facts.backends)}
    for backend, spans in sorted(facts.lanes.items(), key=lambda lane: order.get(lane[0], len(order))):
        odd = " odd" if backend in facts.odd and not facts.meant else ""
        lanes.append(_lane(_name(backend, order), _keys(spans, facts.states, view), view, f"one{odd}"))
    return element(
        "figure",
        element("figcaption", f"TLS {version}"),
        element("div", *lanes, class_="lanes"),
        axis(view),
        class_="drawing",
    )


def axis(view: View) -> Html:
    """Return the times below a drawing."""
    middle = (view.begin + view.end) / 2
    ends = element("span", moment(view.end), f" ({duration(view.end - view.begin)})")
    return element("div", moment(view.begin), moment(middle), ends, class_="axis")


def _name(backend: Address, order: dict[Address, int]) -> Html:
    sign = letter(order[backend]) if backend in order else "gone"
    return element(
        "span", element("span", sign, class_="letter"), element("span", str(backend), class_="address"), class_="who"
    )


def _states(spans: tuple[StateSpan, ...], view: View) -> Iterator[_Piece]:
    for span, until in _with_ends(spans, view):
        mood = "well" if span.healthy else "bad"
        if span.state is TargetState.UNKNOWN:
            mood = "mute"
        elif span.state is TargetState.ROTATING and span.healthy:
            mood = "notice"
        words = spaced(span.state)
        yield _Piece(span.since, until, f"piece {mood}", words, words)


def _keys(spans: tuple[Span, ...], states: tuple[StateSpan, ...], view: View) -> Iterator[_Piece]:
    for span, until in _with_ends(spans, view):
        if span.state is None:
            yield _Piece(span.since, until, "piece gone", "", "not there")
        elif span.group is not None and span.state in _KEEPS_KEY:
            troubled = span.state is not BackendState.RESUMES
            state = f", {spaced(span.state)}" if troubled else ""
            mood = f"piece g{span.group % 8}{' troubled' if troubled else ''}"
            yield _Piece(span.since, until, mood, f"key {span.group}{state}", f"key {span.group}{state}")
        else:
            words = spaced(span.state)
            meant = any(state.healthy for state in _at(states, span.since))
            yield _Piece(span.since, until, f"piece {backend_mood(span.state, meant=meant)}", words, words)


def _at(states: tuple[StateSpan, ...], moment: float) -> tuple[StateSpan, ...]:
    """Return the state that the target was in at a moment, () before the first that is known."""
    return tuple(state for state in states if state.since <= moment)[-1:]


def _with_ends(spans: tuple[Lasting, ...], view: View) -> Iterator[tuple[Lasting, float]]:
    """Yield spans in view, each with its end; the first in view may have begun before it."""
    for number, span in enumerate(spans):
        until = spans[number + 1].since if number + 1 < len(spans) else view.end
        if until > view.begin:
            yield span, until


def _lane(name: Html, pieces: Iterable[_Piece], view: View, kind: str) -> Html:
    shown = list(pieces)
    told = ", then ".join(f"{piece.told} from {clock(max(piece.since, view.begin))}" for piece in shown)
    drawn = [_draw(piece, view) for piece in shown]
    svg = element("svg", *drawn, class_="bar", height=str(_HEIGHT), role="img", aria_label=told or "nothing seen")
    return element("div", name, svg, class_=f"lane {kind}")


def _draw(piece: _Piece, view: View) -> Html:
    """Return one piece: a drawing of its own, so that words that have no room end at its edge."""
    x = view.place(piece.since)
    width = max(_NARROWEST, view.place(piece.until) - x)
    box = element("rect", x="1", y="1", width="100%", height=str(_HEIGHT - 2), rx="3", class_=piece.mood)
    words = element("text", piece.text, x="8", y="17", aria_hidden="true") if width > _READABLE else None
    title = element("title", f"{piece.told} from {clock(max(piece.since, view.begin))}")
    return element("svg", title, box, words, x=f"{x:.2f}%", width=f"{width:.2f}%", height=str(_HEIGHT))
