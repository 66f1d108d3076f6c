"""A summary of rounds as a person reads it."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from exporter.cli.summary import BackendSummary, Summary, VersionSummary
from exporter.model.verdicts import BackendState, Mechanism, OfferOutcome

_GOOD = frozenset({BackendState.RESUMES, BackendState.STATEFUL})
_QUIET = frozenset({BackendState.UNKNOWN, BackendState.NOT_SPOKEN})


def print_summary(console: Console, summary: Summary) -> None:
    """Print who was asked, what each backend showed, and what it comes to."""
    target = summary.target
    rounds = "1 round" if summary.rounds == 1 else f"{summary.rounds} rounds"
    backends = len({backend.backend for backend in summary.backends})
    console.print(
        f"[bold]{_plain(target.name)}[/bold]  server name {_plain(target.server_name)}, "
        f"{backends} {'backend' if backends == 1 else 'backends'}, {rounds}"
    )
    for version in summary.versions:
        rows = [backend for backend in summary.backends if backend.version == version.version]
        console.print()
        console.print(_table(version, rows))
        _print_facts(console, rows)
        _print_verdict(console, version)
    if summary.failures:
        console.print("\n[bold]Failures[/bold]")
    for backend, failure, count in summary.failures:
        where = f"{backend}  " if backend else ""
        times = f" ({count} times)" if count > 1 else ""
        console.print(f"  {_plain(f'{where}{failure}{times}')}")


def _table(version: VersionSummary, rows: Sequence[BackendSummary]) -> Table:
    title = f"TLS {version.version}, times in ms"
    table = Table(title=title, title_justify="left", title_style="", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("backend", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for heading in ("rtt", "full", "resumed", "server"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("at home")
    if any(row.neighbour for row in rows):
        table.add_column("at the next")
    for row in rows:
        table.add_row(*_cells(row)[: len(table.columns)])
    return table


def _cells(row: BackendSummary) -> tuple[str, ...]:
    return (
        str(row.backend),
        _state(row.state),
        _milliseconds(row.rtt),
        _milliseconds(row.full),
        _milliseconds(row.resumed),
        _milliseconds(row.server),
        _offers(row.home),
        _offers(row.neighbour),
    )


def _print_facts(console: Console, rows: Iterable[BackendSummary]) -> None:
    """Print what handshakes showed, once for all backends that showed the same."""
    alike: dict[str, list[BackendSummary]] = {}
    for row in rows:
        if row.cipher:
            alike.setdefault(_facts(row), []).append(row)
    for facts, those in alike.items():
        who = "" if len(alike) == 1 else f"{', '.join(str(row.backend) for row in those)}: "
        console.print(f"  {who}{facts}")


def _facts(row: BackendSummary) -> str:
    words = (row.cipher, row.group, f"ALPN {row.alpn}" if row.alpn else "", _certificate(row), _tickets(row))
    return "; ".join(_plain(word) for word in words if word)


def _state(state: BackendState) -> str:
    words = state.replace("_", " ")
    if state in _GOOD:
        return f"[green]{words}[/green]"
    return words if state in _QUIET else f"[red]{words}[/red]"


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.2f}"


def _certificate(row: BackendSummary) -> str:
    if row.certificate is None:
        return ""
    days = (row.certificate.not_after - time.time()) / 86400
    verified = "" if row.verified else ", not verified"
    return f"{row.certificate.key_type} certificate, {days:.0f} days left{verified}"


def _tickets(row: BackendSummary) -> str:
    if not row.tickets:
        return "no tickets"
    lifetimes = sorted({ticket.lifetime for ticket in row.tickets})
    hint = "/".join(f"{lifetime} s" for lifetime in lifetimes)
    number = "1 ticket" if len(row.tickets) == 1 else f"{len(row.tickets)} tickets"
    return f"{number} for {hint}, {_key(row)}"


def _key(row: BackendSummary) -> str:
    if row.key is not None:
        return f"key {row.key:08x}"
    if row.mechanism is Mechanism.STATEFUL:
        return "kept by the server"
    return "key hidden" if row.mechanism is Mechanism.HIDDEN else "key not yet known"


def _offers(outcomes: Counter[OfferOutcome]) -> str:
    if not outcomes:
        return "-"
    if len(outcomes) == 1 and outcomes.total() == 1:
        return next(iter(outcomes)).replace("_", " ")
    return ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in outcomes.most_common())


def _print_verdict(console: Console, version: VersionSummary) -> None:
    colour = "green" if version.healthy else "red"
    console.print(f"[{colour}]{version.state.replace('_', ' ')}[/{colour}]: {_plain(version.text)}")
    if version.advice:
        console.print(f"  {_plain(version.advice)}")
    if version.ratio is not None:
        pairs = "1 pair" if version.pairs == 1 else f"the median of {version.pairs} pairs"
        console.print(f"  Resumed takes {version.ratio:.2f} times as long as full, {pairs}.")


def _plain(text: str) -> str:
    """Return text from outside so that it can neither mark up nor steer the terminal."""
    return escape("".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text))
