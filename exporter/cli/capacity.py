"""`tlsprobe capacity`: how many handshakes a second one server sustains."""

import ipaddress
import json
import math
import socket
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.cli.capacity_table import render_end, render_head, render_step
from exporter.config.problem import RefusedError
from exporter.config.values import parse_endpoint, parse_host
from exporter.load.capacity import Capacity, Plan, measure_closed, measure_open
from exporter.load.crew import Crew, CrewError, SiteError, cores, hire
from exporter.load.document import to_document
from exporter.load.orders import Site
from exporter.load.picture import NoPictureError, draw, find_painter
from exporter.load.requirement import Outcome, Requirement, judge, parse_requirement
from exporter.load.search import Ladder, Rates, Search, Timed
from exporter.load.step import Step, Strain
from exporter.model.observation import Mode
from exporter.model.target import TlsVersion

MEASURED, MISSED, NOT_MEASURED = 0, 1, 2

_CLIENTS = 32
_START_RATE = 100.0
_PRECISION = 0.03
_FEWEST = 5
"""Connections of a step by `find`; fewer say nothing of what is sustained."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is never exceeded.

    Attributes:
        rate: connections a second.
        clients: of the closed loop.
        step, total: seconds; after `total` no further step begins.
    """

    rate: float
    clients: int
    step: float
    total: float


_HERE = Bounds(rate=1_000_000, clients=10_000, step=600, total=3600)
AWAY = Bounds(rate=10_000, clients=256, step=10, total=300)
"""For a server that is not on this machine, since paths and other people's machines are in between."""


class WordsError(Exception):
    """Words that make no sense together, or that are not allowed."""


def capacity(words: Namespace) -> int:
    """Measure, print what was found, and return the exit code."""
    try:
        site, bounds, where = _site(words)
        requirements = _check(words, bounds)
        painter = find_painter() if words.plot else None
        if words.plot:
            _try(words.plot)
        with hire(site, words.processes or cores()) as crew:
            found = _measure(words, where, crew, bounds)
            outcomes = [judge(each, found) for each in requirements]
            _tell(words, site, crew, found, outcomes)
        if painter is not None:
            _write(words.plot, draw(painter, f"{words.where}, TLS handshakes", found))
    except SiteError as error:
        print(f"tlsprobe capacity: {where}: {error}", file=sys.stderr)
        return NOT_MEASURED
    except (WordsError, NoPictureError, CrewError) as error:
        print(f"tlsprobe capacity: {error}", file=sys.stderr)
        return NOT_MEASURED
    if not all(outcome.met for outcome in outcomes):
        return MISSED
    return MEASURED if any(each.best for each in found) else NOT_MEASURED


def _try(file: Path) -> None:
    """Find out before the measurement whether the picture can be written behind it; nothing is left of the trial."""
    try:
        there = file.exists()
        with file.open("ab"):
            pass
        if not there:
            file.unlink()
    except OSError as error:
        raise _unwritable(file, error) from None


def _write(file: Path, picture: str) -> None:
    try:
        file.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise _unwritable(file, error) from None


def _unwritable(file: Path, error: OSError) -> WordsError:
    return WordsError(f"--plot: {file} cannot be written: {error.strerror}; name a file where you may write")


def _site(words: Namespace) -> tuple[Site, Bounds, str]:
    """Return the server to go to, if we may, and how it is called."""
    try:
        endpoint = parse_endpoint(words.where)
    except RefusedError as refusal:
        raise WordsError(f"{refusal.found}; allowed: {refusal.allowed}") from None
    try:
        found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    except OSError:
        raise WordsError(f"{endpoint.host} has no address: look for a slip of the pen, or name an address") from None
    host, *others = dict.fromkeys(str(entry[4][0]) for entry in found)
    name = endpoint.host if words.server_name is None else _server_name(words.server_name)
    here = ipaddress.ip_address(host.partition("%")[0]).is_loopback
    if not here and not words.operated:
        raise WordsError(
            f"{host} is not on loopback: a load test is for servers of your own; "
            f"--i-operate-this-server says that it is, and then at most {AWAY.rate:,.0f} connections a second, "
            f"{AWAY.clients} clients, {AWAY.step:g} s a step and {AWAY.total:g} s in all are made"
        )
    site = Site(
        host,
        endpoint.port,
        name,
        version=None if words.tls is None else TlsVersion(words.tls),
        path=None if words.no_http else words.path,
        timeout=words.timeout,
    )
    return site, _HERE if here else AWAY, spell_where(words.where, host, others)


def spell_where(where: str, host: str, others: Sequence[str]) -> str:
    """Return what was typed and what it stood for, where that is another thing.

    Args:
        others: addresses of the same name that are left alone.
    """
    if others:
        return f"{where} at {host}, the first of its addresses ({', '.join(others)} left alone)"
    return where if host in where else f"{where} at {host}"


def _server_name(text: str) -> str:
    try:
        return parse_host(text)
    except RefusedError as refusal:
        raise WordsError(f"--server-name: {refusal.found}; allowed: {refusal.allowed}") from None


def _check(words: Namespace, bounds: Bounds) -> list[Requirement]:
    """Refuse what makes no sense together or exceeds a bound, and return the pass lines."""
    if words.plot and words.rate is None:
        raise WordsError("--plot shows latency against rate, so it needs --rate, such as --rate find")
    if words.background and words.no_http:
        raise WordsError("--background-rps cannot be used with --no-http: leave one of them out")
    if not words.path.startswith("/") or not words.path.isascii() or not words.path.isprintable() or " " in words.path:
        raise WordsError("--path: it must begin with a slash and hold visible ASCII characters alone")
    for option, value, most in (
        ("--workers", words.workers or _CLIENTS, bounds.clients),
        ("--rate", max(words.rate or (0.0,)), bounds.rate),
        ("--background-rps", words.background, bounds.rate),
        ("--seconds", words.seconds, bounds.step),
    ):
        if value > most:
            raise WordsError(f"{option} {value:g} is too much: at most {most:g} where {words.where} is; lower it")
    for option, rate in (("--rate", min(words.rate or (0.0,))), ("--background-rps", words.background)):
        if 0 < rate * words.seconds < 1:
            least = math.ceil(1000 / words.seconds) / 1000
            raise WordsError(
                f"{option} {rate:g} makes nothing due in {words.seconds:g} s: raise it to {least:g} or more, "
                "or measure for longer by --seconds"
            )
    try:
        requirements = [parse_requirement(text) for text in words.require]
    except ValueError as error:
        raise WordsError(f"--require: {error}") from None
    for each in requirements:
        if each.mode is not None and each.mode not in _modes(words):
            raise WordsError(f"--require {each.text}: --mode {words.mode} does not measure that; --mode both does")
    return requirements


def _modes(words: Namespace) -> tuple[Mode, ...]:
    return (Mode.FULL, Mode.RESUMED) if words.mode == "both" else (Mode(words.mode),)


def _measure(words: Namespace, where: str, crew: Crew, bounds: Bounds) -> list[Capacity]:
    modes, clients = _modes(words), words.workers or _CLIENTS
    if words.rate is None and clients > crew.most:
        raise CrewError(
            f"{clients} clients at once are more than the {crew.most} for whom files may be open: raise `ulimit -n`, "
            "or lower --workers"
        )
    if Mode.RESUMED in modes and not crew.scouted.resumes:
        if words.mode == "resumed" and not words.require:
            raise CrewError(
                "the server does not resume its own session, so there is nothing to measure: let it issue tickets, "
                "or use --mode full"
            )
        modes = tuple(mode for mode in modes if mode is not Mode.RESUMED)
    if not words.json:
        busy, processes = (clients, min(clients, crew.size)) if words.rate is None else (None, crew.size)
        print("\n".join(render_head(where, crew.scouted, processes, busy, words.seconds)), flush=True)
    limits = [each.bound for each in map(parse_requirement, words.require) if each.name == "p99"]
    plan = Plan(words.seconds, bounds.rate, words.background, min(limits, default=None))
    until = time.monotonic() + bounds.total

    def tell(step: Step, why: Strain | None) -> None:
        if not words.json:
            print(render_step(step, why), flush=True)

    if words.rate is None:
        return [measure_closed(crew.carry_out, mode, clients, plan, tell) for mode in modes]
    return [
        measure_open(crew.carry_out, mode, Timed(_rates(words, bounds), time.monotonic, until), plan, tell)
        for mode in modes
    ]


def _rates(words: Namespace, bounds: Bounds) -> Rates:
    return (
        Ladder(words.rate)
        if words.rate
        else Search(_START_RATE, bounds.rate, _PRECISION, max(1.0, _FEWEST / words.seconds))
    )


def _tell(words: Namespace, site: Site, crew: Crew, found: Sequence[Capacity], outcomes: Sequence[Outcome]) -> None:
    if words.json:
        document: dict[str, Any] = to_document(site, crew.scouted, found, outcomes)
        print(json.dumps(document, indent=2))
        return
    missing = words.mode == "both" and not crew.scouted.resumes
    print("\n".join(render_end(found, outcomes, unresumable=missing)))
