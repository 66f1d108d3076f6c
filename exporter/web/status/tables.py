"""The parts of a target's page that are lists: what happened, failures, facts, connections and the log."""

from collections.abc import Iterator, Mapping

from exporter.model.target import Address, TlsVersion
from exporter.web.status.facts import BackendFacts, CertificateFacts, HandshakeFacts, Story
from exporter.web.status.frame import moment, scrolling, section
from exporter.web.status.html import Html, element, join
from exporter.web.status.matrix import key_chip
from exporter.web.status.words import duration, milliseconds, spaced

_COLUMNS = (
    "Backend",
    "TLS",
    "Full",
    "Server's part",
    "Round trip",
    "Bytes sent, received",
    "Ticket key",
    "Since",
    "Keys seen",
    "Oldest ticket",
)


def tell_events(story: Story) -> Html:
    """Return what happened, the newest first."""
    items = [
        element("li", moment(event.at), element("span", event.text), class_="why" if event.bad else None)
        for event in reversed(story.events)
    ]
    empty = element("p", "Nothing has changed yet.", class_="note")
    return section(
        "events",
        "What happened",
        _scroll("What happened, the newest first", element("ol", *items, class_="log")) if items else empty,
    )


def tell_troubles(story: Story) -> Html:
    """Return the last failures, which are kept for longer than what went well."""
    if not story.troubles:
        return section("failures", "Failures", element("p", "None.", class_="note"))
    headings = ("Backend", "Stage", "Reason", "Times", "First", "Last")
    rows = [
        element(
            "tr",
            element("th", str(trouble.backend or "the target"), scope="row"),
            element("td", spaced(trouble.failure.stage)),
            element("td", spaced(trouble.failure.reason), element("small", trouble.failure.detail)),
            element("td", trouble.count),
            element("td", moment(trouble.first)),
            element("td", moment(trouble.last)),
        )
        for trouble in reversed(story.troubles)
    ]
    return section("failures", "Failures", _table("Failures, the newest first", headings, rows))


def tell_handshakes(story: Story, now: float) -> Html:
    """Return the facts of the last full handshake with each backend, told once for those that showed the same."""
    groups: dict[Html, list[tuple[Address, TlsVersion, BackendFacts]]] = {}
    for version, facts in sorted(story.versions.items(), reverse=True):
        for backend, found in facts.backends.items():
            if found.handshake is not None:
                groups.setdefault(_facts(version, found.handshake, now), []).append((backend, version, found))
    if not groups:
        return section("facts", "Last handshake", element("p", "There was none.", class_="note"))
    cards = [element("article", _who(members), facts, class_="card") for facts, members in groups.items()]
    rows = [
        _times_row(backend, version, found, now)
        for version, facts in sorted(story.versions.items(), reverse=True)
        for backend, found in facts.backends.items()
        if found.handshake is not None
    ]
    table = _table("Times and keys of each backend", _COLUMNS, rows)
    return section("facts", "Last handshake", element("div", *cards, class_="pair"), table)


def _who(members: list[tuple[Address, TlsVersion, BackendFacts]]) -> Html:
    backends = [str(backend) for backend, _, _ in members]
    more = f" and {len(backends) - 4} more" if len(backends) > 4 else ""
    return element("h3", f"TLS {members[0][1]}: {', '.join(backends[:4])}{more}")


def _facts(version: TlsVersion, shaken: HandshakeFacts, now: float) -> Html:
    trips = "1 round trip" if shaken.round_trips == 1 else f"{shaken.round_trips} round trips"
    rows: Mapping[str, str] = {
        "Cipher": shaken.cipher,
        "Key exchange": shaken.group + (", after a HelloRetryRequest" if shaken.hello_retry else ""),
        "ALPN": shaken.alpn,
        "Tickets": _tickets(version, shaken),
        "On the wire": trips,
        **({} if shaken.certificate is None else dict(_certificate(shaken.certificate, now))),
        "Not verified": "" if shaken.problem is None else str(shaken.problem),
    }
    pairs = [join(element("dt", name), element("dd", text)) for name, text in rows.items() if text]
    return element("dl", *pairs)


def _tickets(version: TlsVersion, shaken: HandshakeFacts) -> str:
    if not shaken.tickets:
        return "none"
    hints = " or ".join(f"{seconds} s" for seconds in shaken.lifetimes)
    number = "1 ticket" if shaken.tickets == 1 else f"{shaken.tickets} tickets"
    silent = version is TlsVersion.TLS12 and shaken.lifetimes == (0,)  # RFC 5077 section 3.3
    return f"{number}, of no stated life" if silent else f"{number}, for {hints}"


def _certificate(leaf: CertificateFacts, now: float) -> Iterator[tuple[str, str]]:
    more = f" and {leaf.name_count - len(leaf.names)} more" if leaf.name_count > len(leaf.names) else ""
    left = leaf.not_after - now
    life = f"for {duration(left)} more" if left > 0 else f"expired {duration(-left)} ago"
    yield "Certificate", f"{leaf.key_type}, signed with {leaf.signature_algorithm}, {life}"
    yield "Subject", leaf.subject
    yield "Issuer", leaf.issuer
    yield "Names", ", ".join(leaf.names) + more
    count = "1 certificate" if leaf.chain_count == 1 else f"{leaf.chain_count} certificates"
    yield "Chain", f"{count}, {leaf.chain_bytes} bytes" if leaf.chain_count else ""
    yield "SHA-256", leaf.sha256


def _times_row(backend: Address, version: TlsVersion, found: BackendFacts, now: float) -> Html:
    shaken = found.handshake
    oldest = "-" if found.oldest_accepted is None else f"{found.oldest_accepted:.0f} s"
    return element(
        "tr",
        element("th", str(backend), scope="row"),
        element("td", version),
        element("td", milliseconds(shaken.duration if shaken else None)),
        element("td", milliseconds(shaken.server if shaken else None)),
        element("td", milliseconds(shaken.rtt if shaken else None)),
        element("td", f"{shaken.sent_bytes}, {shaken.received_bytes}" if shaken else "-"),
        element("td", key_chip(found.group), element("small", _key(found))),
        element("td", "-" if found.key_since is None else f"{duration(now - found.key_since)} ago"),
        element("td", found.keys_seen or "-"),
        element("td", oldest),
    )


def _key(found: BackendFacts) -> str:
    return f"{found.key:08x}" if found.key is not None else spaced(found.mechanism)


def tell_connections(story: Story) -> Html:
    """Return what becomes of connections beyond the handshake."""
    items = [element("li", remark.text, class_="fine" if remark.well else "why") for remark in story.connections]
    empty = element("p", "Nothing was asked on connections.", class_="note")
    return section("connections", "Connections", element("ul", *items, class_="remarks") if items else empty)


def tell_log(story: Story) -> Html:
    """Return what the log says of the last rounds, the newest first."""
    items = [
        element("li", moment(line.at), element("span", line.text), class_="why" if line.warning else None)
        for line in reversed(story.log)
    ]
    empty = element("p", "No line was written yet.", class_="note")
    return section(
        "log",
        "Log",
        _scroll("Log, the newest line first", element("ol", *items, class_="log mono")) if items else empty,
    )


def _scroll(label: str, content: Html) -> Html:
    return element("div", content, class_="scroll tall", tabindex="0", role="region", aria_label=label)


def _table(label: str, headings: tuple[str, ...], rows: list[Html]) -> Html:
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    return scrolling(label, element("table", element("thead", head), element("tbody", *rows), class_="plain"))
