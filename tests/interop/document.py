"""docs/interop.md, written from runs and read again: `python -m tests.interop` writes it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import fill

from exporter.model.target import TlsVersion
from exporter.model.verdicts import BackendState
from tests.interop.case import Case, Product, Sight
from tests.interop.run import Run

PAGE = Path(__file__).parents[2] / "docs" / "interop.md"

_HEAD = """\
# What is seen of which server

Each row is two servers alike behind one name, probed in a few rounds, and what the exporter says of them. The page is
written by `python -m tests.interop` from such a run. Each test run makes the rows anew and holds them to this page, the
servers' versions and the tickets' sizes apart: those are as they were seen when it was written.

- mechanism: how sessions are kept. `rfc5077`: tickets with a key name of 16 bytes. `short_name`: of four. `hidden`:
  tickets without a key name. `stateful`: the server keeps the session, and a ticket only names it.
- tickets: how many a connection brings, after a full handshake and after a resumed one.
- bytes: of a ticket.
- lifetime: seconds that a ticket from a full handshake promises; 0 promises nothing.
- 0-RTT: whether early data is offered.
- HTTP: of the answer on a full handshake, and whether the connection is kept for another request.
- each: what `tlsprobe_backend_state` says of either.
- both: what `tlsprobe_ticket_key_state` says of the two.
- keys: how many ticket keys they have, as far as that can be told.
"""
_COLUMNS = ("setting", "TLS", "mechanism", "tickets", "bytes", "lifetime", "0-RTT", "HTTP", "each", "both", "keys")
_KEY_COLUMNS = 2
_BYTES = _COLUMNS.index("bytes")
_AROUND_BYTES = slice(_BYTES - _KEY_COLUMNS), slice(_BYTES - _KEY_COLUMNS, None)
_WIDTH = 120

Key = tuple[str, str, str]
"""Server, setting and TLS version."""


def page(runs: Sequence[tuple[Case, Run]], versions: Mapping[str, str]) -> str:
    """Return the page as Markdown; `versions` are the servers', by name."""
    lines = [_HEAD]
    for product, group in groupby(runs, key=lambda one: one[0].product):
        lines += [*_introduce(product, versions[product.name]), *_table(group), ""]
    return "\n".join(lines)


def cells(product: Product, sight: Sight) -> tuple[str, ...]:
    """Return what a row says beside its key, sizes apart."""
    tickets = sight.full or sight.resumed
    return (
        sight.mechanism or "left to chance",
        f"{sight.full} / {sight.resumed}" if tickets else "none",
        "" if sight.hint is None else f"{sight.hint}",
        "yes" if sight.early_data else "",
        _http(product) if sight.backend is not BackendState.NOT_SPOKEN else "",
        sight.backend,
        sight.pair,
        "" if sight.keys is None else f"{sight.keys}",
    )


def read(text: str) -> dict[Key, tuple[str, ...]]:
    """Read a page's rows, sizes apart.

    Raises:
        ValueError: there is one twice.
    """
    rows: dict[Key, tuple[str, ...]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("## "):
            name = line.removeprefix("## ")
        elif line.startswith("| "):
            setting, version, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            if setting == _COLUMNS[0]:
                continue
            if (key := (name, setting, version)) in rows:
                raise ValueError(f"twice: {key}")
            rows[key] = tuple(rest[: _BYTES - _KEY_COLUMNS] + rest[_BYTES - _KEY_COLUMNS + 1 :])
    return rows


def key_of(case: Case, version: TlsVersion) -> Key:
    """Return what tells a row from all others."""
    return case.product.name, case.setting, version


def _introduce(product: Product, version: str) -> Iterator[str]:
    yield f"## {product.name}\n"
    yield fill(f"Seen with {version}. {product.note}", _WIDTH, break_on_hyphens=False) + "\n"


def _table(runs: Iterable[tuple[Case, Run]]) -> Iterator[str]:
    yield _row(_COLUMNS)
    yield "|" + "---|" * len(_COLUMNS)
    for case, run in runs:
        for version, sight in run.last(case).items():
            before, after = (cells(case.product, sight)[part] for part in _AROUND_BYTES)
            yield _row((case.setting, version, *before, _range(run.ticket_bytes[version]), *after))


def _row(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _http(product: Product) -> str:
    if product.http is None:
        return ""
    version, kept = product.http
    return f"{version}, {'kept' if kept else 'closed'}"


def _range(sizes: frozenset[int]) -> str:
    if not sizes:
        return ""
    least, most = min(sizes), max(sizes)
    return f"{least}" if least == most else f"{least} to {most}"
