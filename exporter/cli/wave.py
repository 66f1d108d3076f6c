"""`tlsprobe wave`: what clients that all come back offer to a fleet, against what it sustains."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from exporter.cli.rate import spell_rate
from exporter.load.document import Measured, read_measured
from exporter.load.wave import Ceiling, Wave

DONE, SENSELESS = 0, 2
_MOST_BYTES = 4 << 20


def wave(words: Namespace) -> int:
    """Print the arithmetic and return the exit code."""
    try:
        reckoned = Wave(words.clients, words.servers, words.windows, _ceiling(words), words.resumed or 0.0)
    except ValueError as error:
        print(f"tlsprobe wave: {error}", file=sys.stderr)
        return SENSELESS
    if reckoned.resumed and (doubt := _doubt(reckoned.ceiling)):
        print(f"tlsprobe wave: {doubt}", file=sys.stderr)
    print(json.dumps(to_document(reckoned), indent=2) if words.json else "\n".join(render(reckoned)))
    return DONE


def _ceiling(words: Namespace) -> Ceiling:
    if words.resumed_ceiling is not None and words.resumed is None:
        raise ValueError(
            "--resumed-ceiling changes nothing without --resumed: say which share resumes, as --resumed 0.7"
        )
    if words.capacity is None:
        found, missing = Ceiling(words.ceiling), ""
    else:
        measured = _read(words.capacity)
        found, missing = measured.ceiling, f"; {words.capacity}: {measured.no_resumed}"
    if words.resumed_ceiling is not None:
        return replace(found, resumed=words.resumed_ceiling, resumed_at_least=False)
    if words.resumed and found.resumed is None:
        raise ValueError(f"--resumed needs --resumed-ceiling, or a --capacity that holds one{missing}")
    return found


def _read(file: Path) -> Measured:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(
            f"--capacity: {file} cannot be read: {error.strerror}; "
            "name a file that holds what `tlsprobe capacity HOST:PORT --json` printed"
        ) from None
    try:
        return read_measured(text)
    except ValueError as error:
        raise ValueError(f"--capacity: {file}: {error}") from None


def _doubt(ceiling: Ceiling) -> str:
    """Return what is odd about the ceilings; empty where nothing is."""
    if ceiling.resumed is None or ceiling.resumed >= ceiling.full:
        return ""
    return (
        f"the ceiling of resumed handshakes, {spell_rate(ceiling.resumed)} a second, is below that of full ones, "
        f"{spell_rate(ceiling.full)}, though they spare the server work: are they the wrong way round, or should they "
        "be measured again?"
    )


def to_document(reckoned: Wave) -> list[dict[str, Any]]:
    """Return one entry for each window; where some tickets resume, the load without any resumption beside it.

    Where a ceiling may be higher than was measured, `load_at_most` says that the load may be lower.
    """
    rows = []
    for load in reckoned.loads():
        row: dict[str, Any] = {
            "window_seconds": _plain(load.window),
            "offered_per_second": round(load.offered, 1),
            "load": _by_servers(load.load),
        }
        if reckoned.resumed:
            row["load_all_full"] = _by_servers(load.all_full)
        if reckoned.ceiling.at_least(reckoned.resumed):
            row["load_at_most"] = True
        if reckoned.resumed and reckoned.ceiling.at_least(0.0):
            row["load_all_full_at_most"] = True
        rows.append(row)
    return rows


def render(reckoned: Wave) -> Iterator[str]:
    """Yield the lines of a table, and what it comes to."""
    ceiling, share = reckoned.ceiling, reckoned.resumed
    yield f"{reckoned.clients:,} clients come back; one server sustains {_ceiling_words(ceiling, share)}"
    yield ""
    yield from _table(reckoned)
    yield ""
    shortest = _windows(reckoned.shortest_windows(), at_most=ceiling.at_least(share))
    yield f"Shortest window that fits: {shortest}."
    if share:
        after = _windows(reckoned.shortest_windows(all_full=True), at_most=ceiling.at_least(0.0))
        work = ceiling.mixed(share) / ceiling.full
        yield f"After a change of the ticket key without overlap no ticket resumes: {after}, {work:.2f} times as long."
    else:
        yield "All handshakes are full here, as after a change of the ticket key without overlap."
    if ceiling.at_least(share) or ceiling.at_least(0.0):
        yield (
            "Where it says at least, the measurement ended before the server did: loads reckoned from it may be lower. "
            "Measure again, to the limit (`tlsprobe capacity --rate find`) and with more cores for the generator."
        )


def _ceiling_words(ceiling: Ceiling, share: float) -> str:
    full = f"{_least(ceiling.full_at_least)}{spell_rate(ceiling.full)} full"
    if not share:
        return f"{full} handshakes a second"
    return (
        f"{full} or {_least(ceiling.resumed_at_least)}{spell_rate(ceiling.resumed or 0.0)} resumed handshakes "
        "a second, "
        f"{_least(ceiling.at_least(share))}{spell_rate(ceiling.mixed(share))} with {share * 100:.4g} % resumed"
    )


def _least(bound: bool) -> str:
    return "at least " if bound else ""


def _table(reckoned: Wave) -> Iterator[str]:
    headings = ["window", "offered/s", *map(_fleet, reckoned.servers)]
    if reckoned.resumed:
        headings += [f"{_fleet(servers)}, all full" for servers in reckoned.servers]
    rows = [headings]
    for load in reckoned.loads():
        shares = [*load.load.values(), *(load.all_full.values() if reckoned.resumed else ())]
        rows.append([f"{_plain(load.window)} s", spell_rate(load.offered), *map(_percent, shares)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    for row in rows:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))


def _fleet(servers: int) -> str:
    return "1 server" if servers == 1 else f"{servers:,} servers"


def _windows(windows: Mapping[int, float], *, at_most: bool) -> str:
    bound = "at most " if at_most else ""
    return ", ".join(f"{bound}{_digits(window)} s for {_fleet(servers)}" for servers, window in windows.items())


def _percent(load: float) -> str:
    percent = load * 100
    return f"{percent:,.0f} %" if percent >= 1 else f"{percent:.1g} %"


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() else number


def _by_servers(load: Mapping[int, float]) -> dict[str, float]:
    return {str(servers): round(share, 4) for servers, share in load.items()}
