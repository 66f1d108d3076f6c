"""A summary of rounds as a person reads it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from exporter.cli.connections import describe_connections
from exporter.cli.summary import BackendSummary, Summary, VersionSummary
from exporter.model.observation import TlsFacts
from exporter.model.verdicts import BackendState, Census, Mechanism, OfferOutcome
from exporter.verdict.findings import dangers_at

_GOOD = frozenset({BackendState.RESUMES, BackendState.STATEFUL})
_QUIET = frozenset({BackendState.UNKNOWN, BackendState.NOT_SPOKEN})
_COLOURS = {"green": "\x1b[32m", "red": "\x1b[31m", "bold": "\x1b[1m"}
_PLAIN = "\x1b[0m"
_HEADINGS = ("backend", "state", "rtt", "full", "resumed", "server", "at home", "at the next")
_NUMBERS = range(2, 6)
_TELLING_AGE = 60.0  # seconds; that tickets live from one round to the next is no news


class Painter:
    """Colours words where a terminal shows it, and lets none of the servers' own words steer the terminal."""

    def __init__(self, *, colours: bool) -> None:
        self._colours = colours

    def paint(self, text: str, colour: str) -> str:
        """Return harmless text, in a colour."""
        return f"{_COLOURS[colour]}{_harmless(text)}{_PLAIN}" if self._colours else _harmless(text)


def render_summary(summary: Summary, painter: Painter, now: float) -> Iterator[str]:
    """Yield lines: who was asked, what failed, what each backend showed, and what it comes to.

    Args:
        now: Unix time in seconds, from which the days of certificates are counted.
    """
    target = summary.target
    rounds = "1 round" if summary.rounds == 1 else f"{summary.rounds} rounds"
    count = len({backend.backend for backend in summary.backends})
    backends = "1 backend" if count == 1 else f"{count} backends"
    yield f"{painter.paint(target.name, 'bold')}  server name {_harmless(target.server_name)}, {backends}, {rounds}"
    yield from _failures(summary, painter)
    if summary.failures and not summary.probed:
        return
    for version in summary.versions:
        rows = [backend for backend in summary.backends if backend.version == version.version]
        yield ""
        yield f"TLS {version.version}, times in ms"
        yield from _table(rows, painter)
        yield from _facts(rows, now)
        yield from _findings(rows, painter)
        yield from _verdict(version, painter)
    yield from _connections(summary, painter, now)


def _connections(summary: Summary, painter: Painter, now: float) -> Iterator[str]:
    lines = list(describe_connections(summary.connections, now))
    if lines:
        yield ""
        yield painter.paint("Connections", "bold")
    for text, well in lines:
        yield f"  {_harmless(text) if well else painter.paint(text, 'red')}"


def _failures(summary: Summary, painter: Painter) -> Iterator[str]:
    if summary.failures:
        yield ""
        yield painter.paint("Failures", "bold")
    for backend, failure, number in summary.failures:
        where = f"{backend}  " if backend else ""
        times = f" ({number} times)" if number > 1 else ""
        yield f"  {_harmless(f'{where}{failure}{times}')}"


def _table(rows: Sequence[BackendSummary], painter: Painter) -> Iterator[str]:
    columns = len(_HEADINGS) if any(row.neighbour for row in rows) else len(_HEADINGS) - 1
    cells = [_HEADINGS[:columns], *(_cells(row)[:columns] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(columns)]
    for number, line in enumerate(cells):
        padded = [
            cell.rjust(width) if column in _NUMBERS else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        colour = _colour(rows[number - 1].state) if number else None
        if colour is not None:
            padded[1] = painter.paint(padded[1], colour)
        yield "  ".join(padded).rstrip()


def _cells(row: BackendSummary) -> tuple[str, ...]:
    return (
        str(row.backend),
        row.state.replace("_", " "),
        _milliseconds(row.rtt),
        _milliseconds(row.full),
        _milliseconds(row.resumed),
        _milliseconds(row.server),
        _offers(row.home),
        _offers(row.neighbour),
    )


def _colour(state: BackendState) -> str | None:
    if state in _GOOD:
        return "green"
    return None if state in _QUIET else "red"


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.2f}"


def _offers(outcomes: Counter[OfferOutcome]) -> str:
    if not outcomes:
        return "-"
    if outcomes.total() == 1:
        return next(iter(outcomes)).replace("_", " ")
    return ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in outcomes.most_common())


def _facts(rows: Sequence[BackendSummary], now: float) -> Iterator[str]:
    """Yield what handshakes showed, once for all backends that showed the same."""
    known = [row for row in rows if row.cipher]
    for fact, alike in _groups((row, _fact(row, now)) for row in known):
        yield _at(fact, alike, known)
    cold = [(row, row.cold) for row in known if row.cold is not None]
    for words, alike in _groups((row, _cold(row, facts)) for row, facts in cold):
        sent = _range(facts.sent_bytes for row, facts in cold if row in alike)
        received = _range(facts.received_bytes for row, facts in cold if row in alike)
        yield _at(f"full handshake: {sent} bytes sent and {received} received; {words}", alike, known)


def _groups(facts: Iterable[tuple[BackendSummary, str]]) -> Iterator[tuple[str, list[BackendSummary]]]:
    """Yield each fact with all backends that it holds for, in the order in which they came."""
    alike: dict[str, list[BackendSummary]] = {}
    for row, fact in facts:
        alike.setdefault(fact, []).append(row)
    yield from alike.items()


def _at(fact: str, alike: Sequence[BackendSummary], everybody: Sequence[BackendSummary]) -> str:
    where = "" if len(alike) == len(everybody) else f"{', '.join(str(row.backend) for row in alike)}: "
    return f"  {where}{fact}"


def _range(sizes: Iterable[int]) -> str:
    """Return least and most: an ECDSA signature's length changes by a byte or two from handshake to handshake."""
    least, *_, most = sorted([*sizes] * 2)
    return str(least) if least == most else f"{least} to {most}"


def _cold(row: BackendSummary, facts: TlsFacts) -> str:
    """Say what a full handshake takes on the wire, apart from its bytes."""
    words = ["1 round trip" if facts.round_trips == 1 else f"{facts.round_trips} round trips"]
    if facts.hello_retry:
        words.append("the server asked for another key share first (HelloRetryRequest)")
    if row.certificate is not None and row.certificate.chain_count:
        count, names = row.certificate.chain_count, row.certificate.name_count
        certificates = "1 certificate" if count == 1 else f"{count} certificates"
        words.append(
            f"{certificates} of {row.certificate.chain_bytes} bytes with {'1 name' if names == 1 else f'{names} names'}"
        )
    if facts.name_matches is False:
        words.append("not for this server name")
    return "; ".join(words)


def _findings(rows: Iterable[BackendSummary], painter: Painter) -> Iterator[str]:
    """Yield signs of danger, and what is known of several keys at one address and of how long tickets live."""
    for row in rows:
        for danger in dangers_at(row.backend, row.verdict):
            yield f"  {painter.paint(str(danger), 'red')}"
        census, survival = row.verdict.census, row.verdict.survival
        if census is not None and row.state is BackendState.MIXED:
            yield f"  {row.backend}: {census.hits} of {census.offers} old tickets were accepted{_effective(census)}"
        if survival.oldest_accepted is not None and survival.oldest_accepted >= _TELLING_AGE:
            yield f"  {row.backend}: a ticket {survival.oldest_accepted:.0f} s old was accepted, of {survival.hint} s"


def _effective(census: Census) -> str:
    if census.effective is None or census.effective_low is None:
        return ""
    most = "more" if census.effective_high is None else f"{census.effective_high:.1f}"
    return f", as of {census.effective:.1f} keys alike often ({census.effective_low:.1f} to {most})"


def _fact(row: BackendSummary, now: float) -> str:
    words = (row.cipher, row.group, f"ALPN {row.alpn}" if row.alpn else "", _certificate(row, now), _tickets(row))
    return "; ".join(_harmless(word) for word in words if word)


def _certificate(row: BackendSummary, now: float) -> str:
    if row.certificate is None:
        return ""
    verified = "" if row.verified else ", not verified"
    return f"{row.certificate.key_type} certificate, {_life(row.certificate.not_after - now)}{verified}"


def _life(seconds: float) -> str:
    """Say how long a certificate will be valid, or since when it is not, in whole days."""
    days = int(abs(seconds) // 86400)
    words = "1 day" if days == 1 else f"{days} days"
    if seconds < 0:
        return f"expired {words} ago" if days else "expired today"
    return f"{words} left" if days else "less than a day left"


def _tickets(row: BackendSummary) -> str:
    if not row.tickets:
        return "no tickets"
    hint = "/".join(f"{lifetime} s" for lifetime in sorted({ticket.lifetime for ticket in row.tickets}))
    number = "1 ticket" if len(row.tickets) == 1 else f"{len(row.tickets)} tickets"
    return f"{number} for {hint}, {_key(row)}"


def _key(row: BackendSummary) -> str:
    if row.key is not None:
        return f"key {row.key:08x}"
    if row.mechanism is Mechanism.STATEFUL:
        return "kept by the server"
    return "key hidden" if row.mechanism is Mechanism.HIDDEN else "key not yet known"


def _verdict(version: VersionSummary, painter: Painter) -> Iterator[str]:
    state = painter.paint(version.state.replace("_", " "), "green" if version.healthy else "red")
    yield f"{state}: {_harmless(version.text)}"
    if version.advice:
        yield f"  {_harmless(version.advice)}"
    if version.ratio is not None:
        pairs = "1 pair" if version.pairs == 1 else f"the median of {version.pairs} pairs"
        yield f"  Resumed takes {version.ratio:.2f} times as long as full, {pairs}."


def _harmless(text: str) -> str:
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
