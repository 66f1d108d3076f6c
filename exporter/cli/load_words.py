"""The command line's words for `capacity` and `wave`."""

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

from exporter.config.problem import RefusedError
from exporter.config.values import DURATION_PATTERN, parse_duration
from exporter.model.target import TlsVersion

N = TypeVar("N", int, float)
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

FIND = "find"
_MOST_CLIENTS = 10_000
_MOST_PROCESSES = 256
_LEAST_RATE, _MOST_RATE = 1e-6, 1_000_000.0
_MOST_STEPS = 100
_LONGEST_STEP = 600.0


def add_capacity(commands: Commands) -> None:
    """Add `tlsprobe capacity`."""
    capacity = commands.add_parser(
        "capacity",
        help="measure how many handshakes a second one server sustains",
        description="Measure how many handshakes a second one server sustains, full and resumed. It is a load test: it "
        "goes to loopback alone unless you say that the server is yours. Exit code: 0 measured, 1 a --require was "
        "missed, 2 it could not be measured.",
    )
    capacity.add_argument("where", metavar="HOST:PORT", help="the server; of a name the first address alone")
    capacity.add_argument("--mode", choices=["full", "resumed", "both"], default="both",
                          help="which handshakes (both)")  # fmt: skip
    loop = capacity.add_mutually_exclusive_group()
    loop.add_argument("--workers", type=_whole("workers", _MOST_CLIENTS), metavar="N",
                      help="closed loop: so many clients, each with one connection after the other (32)")  # fmt: skip
    loop.add_argument("--rate", type=_rates, metavar="RATE,...",
                      help="open loop: begin so many connections a second, whatever the server does, in steps up to "
                      f"the first that is not sustained; `{FIND}` looks for it by itself")  # fmt: skip
    capacity.add_argument("--seconds", type=_seconds("seconds", 0.5, _LONGEST_STEP), default=5.0, metavar="S",
                          help="for which each step is measured (5)")  # fmt: skip
    capacity.add_argument("--background-rps", dest="background", type=_rate, default=0.0, metavar="N",
                          help="send so many requests a second on kept-alive connections, too (none)")  # fmt: skip
    capacity.add_argument("--processes", type=_whole("processes", _MOST_PROCESSES), metavar="N",
                          help="that make the load (one for each core)")  # fmt: skip
    capacity.add_argument(
        "--require", action="append", default=[], metavar="LINE",
        help="a pass line such as resumed>=8000, full>=5000 or p99<=50ms; may be repeated",
    )  # fmt: skip
    capacity.add_argument("--json", action="store_true", help="print all of it for a program (a table for people)")
    capacity.add_argument("--plot", type=Path, metavar="FILE.svg",
                          help="draw latency against rate, with --rate; needs the extra `plot` (pygal)")  # fmt: skip
    capacity.add_argument("--server-name", metavar="NAME", help="for SNI and Host (HOST)")
    capacity.add_argument("--tls", choices=[version.value for version in TlsVersion], metavar="VERSION",
                          help="1.2 or 1.3 (the best that the server speaks)")  # fmt: skip
    capacity.add_argument("--path", default="/", metavar="PATH", help="what to ask for on each connection (/)")
    capacity.add_argument("--no-http", action="store_true", help="shake hands and send no request (one is sent)")
    capacity.add_argument("--timeout", type=_seconds("timeout", 0.1, 60.0), default=5.0, metavar="S",
                          help="for one connection (5)")  # fmt: skip
    capacity.add_argument("--i-operate-this-server", dest="operated", action="store_true",
                          help="allow another address than loopback, within bounds that are told")  # fmt: skip


def add_wave(commands: Commands) -> argparse.ArgumentParser:
    """Add `tlsprobe wave`."""
    wave = commands.add_parser(
        "wave",
        help="reckon what clients that all come back do to a fleet",
        description="Reckon what clients that all come back within a window offer to a fleet, against what it "
        "sustains. Nothing is sent. Exit code: 0, or 2 where the words make no sense.",
    )
    wave.add_argument("--clients", type=_whole("clients", 10**12), required=True, metavar="N", help="that come back")
    wave.add_argument("--servers", type=_list(_whole("servers", 10**9)), required=True, metavar="N,...",
                      help="how many servers are there to take them, several numbers to compare")  # fmt: skip
    wave.add_argument(
        "--windows", type=_list(_window), default=(60.0, 10.0, 5.0, 2.0, 1.0), metavar="S,...",
        help="seconds, or durations such as 2m, within which all have come back (60,10,5,2,1)",
    )  # fmt: skip
    ceiling = wave.add_mutually_exclusive_group(required=True)
    ceiling.add_argument("--ceiling", type=_rate, metavar="N",
                         help="full handshakes a second that one server sustains")  # fmt: skip
    ceiling.add_argument("--capacity", type=Path, metavar="FILE",
                         help="take the ceilings from what `tlsprobe capacity --json` printed")  # fmt: skip
    wave.add_argument("--resumed-ceiling", type=_rate, metavar="N", help="resumed handshakes a second (not known)")
    wave.add_argument(
        "--resumed", type=_share, metavar="SHARE",
        help="of the clients whose ticket resumes, 0 to 1 (0); needs the ceiling of both kinds",
    )  # fmt: skip
    wave.add_argument("--json", action="store_true", help="print a list for a program (a table for people)")
    return wave


def _whole(what: str, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(most)) else 0
        if not 1 <= number <= most:
            raise argparse.ArgumentTypeError(f'"{text}" is no number of {what}; allowed: 1 to {most}, in digits alone')
        return number

    return parse


def _list(parse: Callable[[str], N]) -> Callable[[str], tuple[N, ...]]:
    def parse_all(text: str) -> tuple[N, ...]:
        if not text.strip():
            raise argparse.ArgumentTypeError("an empty list; allowed: numbers with commas between them")
        found = tuple(parse(part.strip()) for part in text.split(","))
        twice = next((number for at, number in enumerate(found) if number in found[:at]), None)
        if twice is not None:
            raise argparse.ArgumentTypeError(f"{twice:g} stands there twice; allowed: each number once")
        return found

    return parse_all


def _seconds(what: str, least: float, most: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        number = _number(text)
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f'{what}: "{text}"; allowed: {least:g} to {most:g} seconds')
        return number

    return parse


def _window(text: str) -> float:
    try:
        seconds = parse_duration(text) if re.match(DURATION_PATTERN, text) else 0.0
    except RefusedError:
        seconds = 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f'"{text}" is no window; allowed: seconds over 0, or a duration such as 2m')
    return seconds


def _rate(text: str) -> float:
    number = _number(text)
    if not _LEAST_RATE <= number <= _MOST_RATE:
        raise argparse.ArgumentTypeError(f'"{text}" is no rate; allowed: {_LEAST_RATE:g} to {_MOST_RATE:.0f} a second')
    return number


def _rates(text: str) -> tuple[float, ...]:
    """Return the steps, none for those that are to be found."""
    if text == FIND:
        return ()
    rates = _list(_rate)(text)
    if list(rates) != sorted(rates) or len(rates) > _MOST_STEPS:
        raise argparse.ArgumentTypeError(f'"{text}"; allowed: up to {_MOST_STEPS} rates, rising, or `{FIND}`')
    return rates


def _share(text: str) -> float:
    number = _number(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f'"{text}" is no share; allowed: 0 to 1, such as 0.7')
    return number


def _number(text: str) -> float:
    """Return a number, one that no range holds where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
