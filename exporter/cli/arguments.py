"""The command line's words."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from exporter.cli.completion import SHELLS
from exporter.cli.load_words import add_capacity, add_wave
from exporter.cli.version import ShowVersion
from exporter.model.target import ProxyProtocol, StartTls, TlsVersion
from exporter.verdict.rules import Rules

_EXCLUDED = {
    "--watch": ("--json", "--rounds"),
    "--config": (
        "--backend",
        "--server-name",
        "--tls",
        "--ca-file",
        "--cert-file",
        "--key-file",
        "--insecure",
        "--path",
        "--no-http",
        "--timeout",
    ),
}
_DEFAULT_GRACE = Rules().grace
_OWN_URL = "http://localhost:10507"


def parse_words(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what was asked for, None for what was not; words that make no sense end the program with code 2."""
    parser, commands = _make()
    parsed = parser.parse_args(words)
    if parsed.command == "probe":
        _refuse_ignored(commands["probe"], parsed)
    if parsed.command == "bench" and (parsed.cert is None) is not (parsed.key is None):
        commands["bench"].error("--cert and --key need each other")
    return parsed


def make_parser() -> argparse.ArgumentParser:
    """Return what knows all words, with what each is for."""
    return _make()[0]


def _make() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the program's parser, and those of its commands by name."""
    parser = argparse.ArgumentParser(
        prog="tlsprobe", description="Probe TLS endpoints: what a handshake costs, and whether sessions resume."
    )
    parser.add_argument("--version", action=ShowVersion, help="say which build this is and what it stands on")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_probe(commands)
    _add_check(commands)
    _add_health(commands)
    add_capacity(commands)
    add_wave(commands)
    _add_bench(commands)
    _add_demo(commands)
    _add_papers(commands)
    return parser, commands.choices


def _add_papers(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands that print what other programs read."""
    commands.add_parser(
        "schema",
        help="print the JSON Schema of the configuration",
        description="Print the JSON Schema (draft 2020-12) of the configuration, for editors and for checks elsewhere.",
    )
    completion = commands.add_parser(
        "completion",
        help="print what a shell needs to complete these words",
        description="Print a script that lets a shell complete commands, options, their values and files.",
    )
    completion.add_argument("shell", choices=list(SHELLS), metavar="SHELL", help=", ".join(SHELLS))
    commands.add_parser(
        "manual",
        help="print the manual page",
        description="Print the manual page for man, which shows it with: tlsprobe manual | man -l -",
    )


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = commands.add_parser(
        "run",
        help="probe round after round and serve metrics",
        description="Probe all targets round after round and serve metrics, until SIGTERM or SIGINT. "
        "Exit code: 0 ended by a signal, 1 it could not start.",
    )
    run.add_argument(
        "--config", type=Path, metavar="FILE", help="the configuration (none: the built-in reference alone is probed)"
    )
    run.add_argument("--shard", metavar="INDEX/COUNT",
                     help="probe one part of the targets, other exporters the others: 0/4 is the first of four, auto/4 "
                     "the one by the number at the end of TLSPROBE_SHARD_INDEX or else of the host's name, as in a "
                     "StatefulSet (all targets)")  # fmt: skip
    _add_web(run.add_argument_group("web side"))


def _add_web(web: "argparse._ArgumentGroup") -> None:
    web.add_argument("--web.listen-address", dest="listen", action="append", metavar="HOST:PORT",
                     help="where to serve metrics, also as unix:/PATH; may be repeated "
                     "(the configuration's `listen`, :10507)")  # fmt: skip
    web.add_argument("--web.systemd-socket", dest="systemd_socket", action="store_true",
                     help="serve on the sockets that systemd has opened, and on no other (on addresses)")  # fmt: skip
    web.add_argument("--web.health-address", dest="health", action="append", metavar="HOST:PORT", default=[],
                     help="where to tell health and readiness besides, in plain HTTP and to everybody; "
                     "may be repeated (nowhere)")  # fmt: skip
    _add_lock(web)
    web.add_argument("--web.external-url", dest="external_url", metavar="URL",
                     help="how people reach the pages, where a proxy is in front (unknown)")  # fmt: skip
    web.add_argument("--web.route-prefix", dest="route_prefix", metavar="PATH",
                     help="in front of every path (the external URL's path)")  # fmt: skip
    web.add_argument("--web.enable-lifecycle", dest="lifecycle", action="store_true",
                     help="let POST /-/reload read the configuration anew (it is refused)")  # fmt: skip


def _add_lock(group: "argparse._ActionsContainer") -> None:
    group.add_argument("--web.config.file", dest="web_config", type=Path, metavar="FILE",
                       help="TLS, passwords and more, in the form that Prometheus exporters share (none)")  # fmt: skip


def _add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    check = commands.add_parser(
        "check",
        help="check a configuration file and print all its problems",
        description="Check a configuration file, with the files that it names, and print all its problems, one a "
        "line. Lists of targets in files are read, too; one that is not there yet is a warning. Exit code: 0 it can "
        "be used, 1 it has problems.",
    )
    check.add_argument("file", type=Path, metavar="FILE", help="the configuration, in YAML")
    check.add_argument("--config-only", action="store_true", help="leave out the lists of `discover` (they are read)")
    _add_lock(check)


def _add_health(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    health = commands.add_parser(
        "health",
        help="ask a running exporter whether it is well",
        description="Ask a running exporter for its health page, in plain HTTP. Exit code: 0 it is well, 1 it is not "
        "or does not answer.",
    )
    health.add_argument("url", nargs="?", default=_OWN_URL, metavar="URL",
                        help=f"where it is; a path asks for another page than /-/healthy ({_OWN_URL})")  # fmt: skip


def _add_probe(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    probe = commands.add_parser(
        "probe",
        help="probe one target now and tell what was found",
        description="Probe one target now. Exit code: 0 healthy, 1 a finding, 2 it could not be probed.",
    )
    probe.add_argument("where", metavar="HOST[:PORT] or NAME",
                       help="an address (port 443), or with --config a target's name")  # fmt: skip
    probe.add_argument("--config", type=Path, metavar="FILE", help="take the target of that name from this file (none)")
    probe.add_argument("--rounds", type=_rounds, metavar="N", help="how many rounds; figures are their medians (1)")
    probe.add_argument("--watch", type=_seconds, nargs="?", const=5.0, metavar="SECONDS",
                       help="go on, with so long between rounds (5), and print each change; after a change of key, "
                       f"backends may differ for the file's ticket_keys.grace ({_DEFAULT_GRACE:.0f} s)")  # fmt: skip
    probe.add_argument("--json", action="store_true", help="print all of it for a program (a table for people)")
    ours = probe.add_argument_group("without --config")
    ours.add_argument("--backend", action="append", metavar="HOST[:PORT]",
                      help="probe this address, may be repeated (all that the name stands for)")  # fmt: skip
    ours.add_argument("--server-name", metavar="NAME", help="for SNI, Host and the certificate's check (HOST)")
    ours.add_argument("--tls", action="append", choices=[version.value for version in TlsVersion], metavar="VERSION",
                      help="probe this version alone, 1.2 or 1.3; may be repeated (both)")  # fmt: skip
    ours.add_argument("--ca-file", type=Path, metavar="FILE", help="trust these certificates (the system's)")
    ours.add_argument("--cert-file", type=Path, metavar="FILE", help="client certificate to show (none)")
    ours.add_argument("--key-file", type=Path, metavar="FILE", help="its private key (none)")
    ours.add_argument("--insecure", action="store_true", help="do not check the certificate (it is checked)")
    ours.add_argument("--path", metavar="PATH", help="what to ask for over HTTP (/)")
    ours.add_argument("--no-http", action="store_true", help="shake hands and send no request (one is sent)")
    ours.add_argument("--alpn", action="append", metavar="PROTOCOL",
                      help="offer this protocol, such as h2; may be repeated (http/1.1)")  # fmt: skip
    ours.add_argument("--starttls", choices=[dialogue.value for dialogue in StartTls], metavar="PROTOCOL",
                      help=f"begin in clear: {', '.join(StartTls)} (TLS from the first byte)")  # fmt: skip
    ours.add_argument("--proxy", metavar="HOST[:PORT]", help="ask this HTTP proxy for a tunnel (none is asked)")
    ours.add_argument("--proxy-protocol", choices=[version.value for version in ProxyProtocol], metavar="VERSION",
                      help="send the PROXY protocol's header ahead, v1 or v2 (none is sent)")  # fmt: skip
    ours.add_argument("--timeout", metavar="DURATION", help="for one connection (5s)")


def _add_bench(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    bench = commands.add_parser(
        "bench",
        help="measure what TLS costs on this machine",
        description="Measure on loopback what TLS costs on this machine: requests, bytes and handshakes, full, resumed "
        "and refused. Exit code: 0 measured, 2 it could not be measured.",
    )
    bench.add_argument("--seconds", type=_bench_seconds, default=20.0, metavar="N", help="about how long it takes (20)")
    bench.add_argument("--cert", type=Path, metavar="FILE", help="measure handshakes with this certificate, too (none)")
    bench.add_argument("--key", type=Path, metavar="FILE", help="its private key, not encrypted (none)")
    bench.add_argument("--json", action="store_true", help="print all of it for a program (a table for people)")


def _refuse_ignored(probe: argparse.ArgumentParser, parsed: argparse.Namespace) -> None:
    """End the program where an option would have no effect beside another one, or lacks the one that it needs."""
    for option, others in _EXCLUDED.items():
        for other in others:
            if _is_given(parsed, option) and _is_given(parsed, other):
                probe.error(f"{other} cannot be used with {option}")
    for option, needed in (("--cert-file", "--key-file"), ("--key-file", "--cert-file")):
        if _is_given(parsed, option) and not _is_given(parsed, needed):
            probe.error(f"{option} needs {needed}")


def _is_given(parsed: argparse.Namespace, option: str) -> bool:
    value = getattr(parsed, option.removeprefix("--").replace("-", "_"))
    return value is not None and value is not False


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f'"{text}" is no pause; allowed: 0.1 to 86400 seconds')
    return seconds


def _add_demo(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    demo = commands.add_parser(
        "demo",
        help="watch a fleet on loopback live through a rotation of its ticket key",
        description="Run three backends and an exporter on loopback, rotate the ticket key well and then badly, and "
        "say what to look at. Exit code: 0 all was seen, 1 something was not, 2 it could not begin.",
    )
    demo.add_argument("--port", type=_port, default=10507, metavar="PORT",
                      help="of 127.0.0.1 for the exporter's pages, 0 for any free one (10507)")  # fmt: skip
    demo.add_argument("--speed", type=_speed, default=1.0, metavar="TIMES",
                      help="how many times as fast as two minutes (1)")  # fmt: skip
    demo.add_argument("--step", action="store_true", help="wait for Enter before each scene, to look around in peace")
    demo.add_argument("--stay", action="store_true", help="keep the pages at the end (all ends)")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f'"{text}" is no port; allowed: 0 to 65535')
    return int(text)


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0.1 <= speed <= 100:
        raise argparse.ArgumentTypeError(f'"{text}" is no speed; allowed: 0.1 to 100')
    return speed


def _bench_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f'"{text}" is no length; allowed: 1 to 3600 seconds')
    return seconds


def _rounds(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 100_000:
        raise argparse.ArgumentTypeError(f'"{text}" is no number of rounds; allowed: 1 to 100000')
    return number
