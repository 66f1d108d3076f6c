"""What all pages of the status site have around them."""

from collections.abc import Iterable
from dataclasses import dataclass

from exporter.web.status.facts import Tone
from exporter.web.status.html import Child, Html, element, join
from exporter.web.status.words import TONES, clock, date

REFRESH_SECONDS = 5
_WITHOUT_SCRIPTS = 15  # seconds: a page that is loaded anew loses the reader's place


@dataclass(frozen=True, slots=True)
class Site:
    """What a page needs to know of where it is.

    Attributes:
        root: leads from the page to the root, "" or "../".
        version: the exporter's.
        now: Unix time in seconds.
    """

    root: str
    version: str
    now: float


def page(site: Site, title: str, tone: Tone | None, *content: Child | Iterable[Child]) -> str:
    """Return a whole page; `tone` is of what it shows, None where there is nothing to show."""
    mood, word = TONES[Tone.WAITING if tone is None else tone]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title if tone is None else f"{word}: {title}"),
        element("link", rel="icon", href=f"{site.root}status/{mood}.svg", type="image/svg+xml"),
        element("link", rel="stylesheet", href=f"{site.root}status/status.css?{site.version}"),
        element("noscript", element("meta", http_equiv="refresh", content=str(_WITHOUT_SCRIPTS))),
        element("script", src=f"{site.root}status/status.js?{site.version}", defer=True),
    )
    body = element(
        "body",
        element("a", "Skip to content", class_="skip", href="#main"),
        element("header", _brand(site), _links(site), class_="top"),
        element("main", *content, id="main", tabindex="-1"),
        element("footer", _footer(site)),
        data_refresh=str(REFRESH_SECONDS),
    )
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en")


def _brand(site: Site) -> Html:
    return element("a", element("span", "tls", class_="light"), "probe", class_="brand", href=site.root or "./")


def _links(site: Site) -> Html:
    links = (("Targets", "./"), ("Metrics", "metrics"), ("API", "api/v1/targets"))
    return element("nav", *(_link(site, text, where) for text, where in links), aria_label="Site")


def _link(site: Site, text: str, where: str) -> Html:
    return element("a", text, href=site.root + where)


def _footer(site: Site) -> Html:
    return join(
        element("span", f"TLS resumption exporter {site.version}"),
        element("span", _link(site, "Health", "-/healthy"), " ", _link(site, "Readiness", "-/ready")),
        element("span", "as of ", moment(site.now), " UTC", id="as-of"),
    )


def moment(at: float) -> Html:
    """Return a time of day, for people and for machines."""
    return element("time", clock(at), datetime=date(at))


def section(name: str, title: str, *content: Child | Iterable[Child], note: str = "") -> Html:
    """Return a section with a heading; `name` is its id."""
    return element(
        "section",
        element("h2", title, id=f"{name}-title"),
        element("p", note, class_="note") if note else None,
        *content,
        id=name,
        aria_labelledby=f"{name}-title",
    )


def chip(text: str, mood: str) -> Html:
    """Return a word in a coloured box."""
    return element("span", text, class_=f"chip {mood}")


def scrolling(label: str, *content: Child) -> Html:
    """Return what may be wider than the window: it scrolls by itself, with the keyboard, too."""
    return element("div", *content, class_="scroll", tabindex="0", role="region", aria_label=label)


def hidden(text: str) -> Html:
    """Return words for screen readers alone."""
    return element("span", text, class_="hidden")
