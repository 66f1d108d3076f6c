"""A small command line with one word of each kind."""

import argparse
from pathlib import Path


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of a program `tool`."""
    parser = argparse.ArgumentParser(prog="tool", description="Do it - or don't.")
    parser.add_argument("--version", action="version", version="1", help="say [which]: it's 100%% this one")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    send = commands.add_parser("send", help="send a file: now", description=".so it goes; `away`\\n, at 5%.")
    send.add_argument("file", type=Path, metavar="FILE", help="what is sent")
    send.add_argument("--to.host", dest="host", action="append", metavar="HOST", help="where to; may be repeated")
    send.add_argument("--way", choices=["slow", "fast"], metavar="WAY", help="slow or fast (fast)")
    send.add_argument("--watch", nargs="?", const=5, metavar="SECONDS", help="go on (5)")
    keys = send.add_argument_group("keys")
    keys.add_argument("-k", "--key", type=Path, metavar="FILE", help="a key (none)")
    keys.add_argument("--secret", help=argparse.SUPPRESS)
    commands.add_parser("stop", help="stop it", description="Stop it.").add_argument("mode", choices=["soft", "hard"])
    return parser
