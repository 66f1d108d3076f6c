"""The command line's words."""

import argparse
from pathlib import Path

from exporter import __version__
from exporter.model.target import TlsVersion


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="tlsprobe", description="Probe TLS endpoints: what a handshake costs, and whether sessions resume."
    )
    parser.add_argument("--version", action="version", version=f"tlsprobe {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_probe(commands)
    check = commands.add_parser("check", help="check a configuration file and print all its problems")
    check.add_argument("file", type=Path, metavar="FILE")
    commands.add_parser("schema", help="print the JSON Schema of the configuration")
    return parser


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = commands.add_parser("run", help="probe round after round and serve metrics")
    run.add_argument("--config", type=Path, metavar="FILE", help="without one, the built-in reference alone is probed")
    run.add_argument(
        "--web.listen-address",
        dest="listen",
        action="append",
        metavar="HOST:PORT",
        help="where to serve metrics, instead of the configuration's `listen`; may be repeated",
    )


def _add_probe(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    probe = commands.add_parser(
        "probe",
        help="probe one target now and tell what was found",
        description="Probe one target now. Exit code: 0 healthy, 1 a finding, 2 it could not be probed.",
    )
    probe.add_argument("where", metavar="HOST[:PORT] or NAME", help="an address, or with --config a target's name")
    probe.add_argument("--config", type=Path, metavar="FILE", help="take the target of that name from this file")
    probe.add_argument("--rounds", type=_rounds, default=1, metavar="N", help="how many; figures are their medians")
    probe.add_argument("--watch", type=_seconds, nargs="?", const=5.0, metavar="SECONDS",
                       help="go on, with so long between rounds (5), and print each change")  # fmt: skip
    probe.add_argument("--json", action="store_true", help="print all of it for a program")
    ours = probe.add_argument_group("without --config")
    ours.add_argument("--backend", action="append", metavar="HOST[:PORT]",
                      help="probe this address instead of those that the name stands for; may be repeated")  # fmt: skip
    ours.add_argument("--server-name", metavar="NAME", help="for SNI, Host and the certificate's check")
    ours.add_argument("--tls", action="append", choices=list(TlsVersion), metavar="VERSION",
                      help="probe this version alone: 1.2 or 1.3; may be repeated")  # fmt: skip
    ours.add_argument("--ca-file", type=Path, metavar="FILE", help="trust these certificates, not the system's")
    ours.add_argument("--cert-file", type=Path, metavar="FILE", help="client certificate to show")
    ours.add_argument("--key-file", type=Path, metavar="FILE", help="its private key")
    ours.add_argument("--insecure", action="store_true", help="do not check the certificate")
    ours.add_argument("--path", default="/", metavar="PATH", help="what to ask for over HTTP")
    ours.add_argument("--no-http", action="store_true", help="shake hands and send no request")
    ours.add_argument("--timeout", default="5s", metavar="DURATION", help="for one connection; 5s")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is no pause; allowed: 0.1 to 86400 seconds")
    return seconds


def _rounds(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of rounds; allowed: 1 to 100000")
    return number
