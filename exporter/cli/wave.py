"""`tlsprobe wave`: what clients that all come back offer to a fleet, against what it sustains."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any

from exporter.load.document import read_ceiling
from exporter.load.wave import Ceiling, Wave

DONE, SENSELESS = 0, 2
_MOST_BYTES = 4 << 20


def wave(words: Namespace) -> int:
    """Print the arithmetic and return the exit code."""
    try:
        reckoned = Wave(words.clients, words.servers, words.windows, _ceiling(words), words.resumed)
    except OSError as error:
        print(f"--capacity: {words.capacity} cannot be read: {error.strerror}", file=sys.stderr)
        return SENSELESS
    except ValueError as error:
        print(f"tlsprobe wave: {error}", file=sys.stderr)
        return SENSELESS
    print(json.dumps(to_document(reckoned), indent=2) if words.json else "\n".join(render(reckoned)))
    return DONE


def _ceiling(words: Namespace) -> Ceiling:
    if words.capacity is None:
        found = Ceiling(words.ceiling)
    else:
        with words.capacity.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_BYTES + 1)
        try:
            found = read_ceiling(text)
        except ValueError as error:
            raise ValueError(f"--capacity: {words.capacity}: {error}") from None
    resumed = found.resumed if words.resumed_ceiling is None else words.resumed_ceiling
    if words.resumed and resumed is None:
        raise ValueError("--resumed needs --resumed-ceiling, or a --capacity that holds one")
    return Ceiling(found.full, resumed)


def to_document(reckoned: Wave) -> list[dict[str, Any]]:
    """Return one entry for each window; where some tickets resume, the load without any resumption beside it."""
    rows = []
    for load in reckoned.loads():
        row: dict[str, Any] = {
            "window_seconds": _plain(load.window),
            "offered_per_second": round(load.offered, 1),
            "load": _by_servers(load.load),
        }
        if reckoned.resumed:
            row["load_all_full"] = _by_servers(load.all_full)
        rows.append(row)
    return rows


def render(reckoned: Wave) -> Iterator[str]:
    """Yield the lines of a table, and what it comes to."""
    ceiling, share = reckoned.ceiling, reckoned.resumed
    yield f"{reckoned.clients:,} clients come back; one server sustains {_ceiling_words(ceiling, share)}"
    yield ""
    yield from _table(reckoned)
    yield ""
    yield f"Shortest window that fits: {_windows(reckoned.shortest_windows())}."
    if share:
        after = _windows(reckoned.shortest_windows(all_full=True))
        work = ceiling.mixed(share) / ceiling.full
        yield f"After a change of the ticket key without overlap no ticket resumes: {after}, {work:.2f} times as long."
    else:
        yield "All handshakes are full here, as after a change of the ticket key without overlap."


def _ceiling_words(ceiling: Ceiling, share: float) -> str:
    if not share:
        return f"{_rate(ceiling.full)} full handshakes a second"
    return (
        f"{_rate(ceiling.full)} full or {_rate(ceiling.resumed or 0.0)} resumed handshakes a second, "
        f"{_rate(ceiling.mixed(share))} with {share * 100:.4g} % resumed"
    )


def _table(reckoned: Wave) -> Iterator[str]:
    headings = ["window", "offered/s", *map(_fleet, reckoned.servers)]
    if reckoned.resumed:
        headings += [f"{_fleet(servers)}, all full" for servers in reckoned.servers]
    rows = [headings]
    for load in reckoned.loads():
        shares = [*load.load.values(), *(load.all_full.values() if reckoned.resumed else ())]
        rows.append([f"{_plain(load.window)} s", _rate(load.offered), *map(_percent, shares)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    for row in rows:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))


def _fleet(servers: int) -> str:
    return "1 server" if servers == 1 else f"{servers:,} servers"


def _windows(windows: Mapping[int, float]) -> str:
    return ", ".join(f"{_digits(window)} s for {_fleet(servers)}" for servers, window in windows.items())


def _percent(load: float) -> str:
    percent = load * 100
    return f"{percent:,.0f} %" if percent >= 1 else f"{percent:.1g} %"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() else number


def _by_servers(load: Mapping[int, float]) -> dict[str, float]:
    return {str(servers): round(share, 4) for servers, share in load.items()}
