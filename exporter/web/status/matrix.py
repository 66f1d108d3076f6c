"""Who accepts whose ticket: a row for each issuer, a column for each backend that it was offered to."""

from collections.abc import Mapping
from types import MappingProxyType

from exporter.model.target import Address
from exporter.model.verdicts import BackendState, OfferOutcome
from exporter.web.status.facts import BackendFacts, Cell, Pair, VersionFacts
from exporter.web.status.frame import chip, hidden, scrolling
from exporter.web.status.html import Html, element
from exporter.web.status.words import letter, spaced

_SIGNS: Mapping[OfferOutcome, tuple[str, str]] = MappingProxyType(
    {
        OfferOutcome.ACCEPTED: ("✓", "yes"),
        OfferOutcome.REFUSED: ("✗", "no"),
        OfferOutcome.KILLED: ("†", "no"),
        OfferOutcome.NOT_OFFERED: ("-", "mute"),
        OfferOutcome.ERROR: ("!", "mute"),
    }
)
_WELL = frozenset({BackendState.RESUMES, BackendState.STATEFUL})
_QUIET = frozenset({BackendState.UNKNOWN, BackendState.NOT_SPOKEN})
_REFUSED, _MEANT = ("✗", "no", "refused"), ("✗", "mute", "refused, as allowed")
_LEGEND = (
    ("✓", "yes", "accepted"),
    _REFUSED,
    ("†", "no", "the connection died of it"),
    ("=", "same", "the same key, not asked lately"),
    ("·", "mute", "not asked lately"),
)


def draw_matrix(version: str, facts: VersionFacts, round_number: int) -> Html:
    """Return the table; `round_number` is that of the last round, from which the age of offers is told."""
    backends = tuple(facts.backends)
    if not backends:
        return element("p", f"TLS {version}: there was no backend to ask.", class_="note")
    headings = [
        element("th", letter(column), hidden(f", offered to {backend}"), scope="col", title=str(backend))
        for column, backend in enumerate(backends)
    ]
    head = element("tr", element("th", "issued by, offered to", scope="col"), *headings)
    rows = [_row(facts, number, backend, backends, round_number) for number, backend in enumerate(backends)]
    caption = element("caption", f"TLS {version}")
    table = element("table", caption, element("thead", head), element("tbody", *rows), class_="matrix")
    return element("div", scrolling(f"Who accepts whose ticket, TLS {version}", table), class_="matrix-box")


def legend(*, meant: bool) -> Html:
    """Return what the signs mean; `meant` is whether all refusals are."""
    signs = [_MEANT if meant and each == _REFUSED else each for each in _LEGEND]
    return element(
        "ul",
        *(element("li", element("span", sign, class_=f"sign {mood}"), words) for sign, mood, words in signs),
        class_="legend",
    )


def backend_mood(state: BackendState | None, *, meant: bool) -> str:
    """Return the class of a backend's state; `meant` is whether its target is as it should be."""
    if state in _WELL:
        return "well"
    return "mute" if meant or state is None or state in _QUIET else "bad"


def _row(facts: VersionFacts, number: int, issuer: Address, backends: tuple[Address, ...], round_number: int) -> Html:
    found = facts.backends[issuer]
    name = element(
        "th",
        element("span", letter(number), class_="letter"),
        element("span", str(issuer), class_="address"),
        key_chip(found.group),
        None
        if found.state is BackendState.RESUMES
        else chip(spaced(found.state), backend_mood(found.state, meant=facts.healthy)),
        scope="row",
    )
    cells = [_cell(facts, (issuer, acceptor), round_number) for acceptor in backends]
    return element("tr", name, *cells, class_="odd" if issuer in facts.odd and not facts.meant else None)


def key_chip(group: int | None) -> Html | None:
    """Return the sign of a ticket key, None where the key is not known."""
    return None if group is None else element("span", f"key {group}", class_=f"key g{group % 8}")


def _cell(facts: VersionFacts, pair: Pair, round_number: int) -> Html:
    issuer, acceptor = pair
    odd = "against" if issuer in facts.odd or acceptor in facts.odd else ""
    cell = facts.cells.get(pair)
    if cell is None:
        same = _same_key(facts.backends[issuer], facts.backends[acceptor])
        sign, mood, words = (
            ("=", "same", "the same key, not asked lately") if same else ("·", "mute", "not asked lately")
        )
    else:
        sign, mood = _SIGNS[cell.outcome]
        if facts.meant and cell.outcome is OfferOutcome.REFUSED:
            mood = "mute"
        words = _words(cell, round_number)
    home = "home" if issuer == acceptor else ""
    kind = " ".join(filter(None, ("offer", mood, home, odd if mood == "no" else "")))
    return element("td", element("span", sign, aria_hidden="true"), hidden(words), class_=kind, title=words)


def _words(cell: Cell, round_number: int) -> str:
    ago = round_number - cell.number
    when = "in the last round" if not ago else f"{ago + 1} rounds ago" if ago > 1 else "in the round before the last"
    why = f", laid to the {spaced(cell.cause)}" if cell.cause is not None else ""
    return f"{spaced(cell.outcome)} {when}{why}"


def _same_key(issuer: BackendFacts, acceptor: BackendFacts) -> bool:
    return issuer.group is not None and issuer.group == acceptor.group and {issuer.state, acceptor.state} <= _WELL
