"""The command `tlsprobe`."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence

from exporter.cli.arguments import make_parser
from exporter.config.check import check
from exporter.config.json_schema import json_schema
from exporter.config.problem import ConfigError

FAILED = 1
INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parsed = make_parser().parse_args(words)
    commands: dict[str, Callable[[Namespace], int]] = {"run": _run, "probe": _probe, "check": _check, "schema": _schema}
    try:
        return commands[parsed.command](parsed)
    except KeyboardInterrupt:
        return INTERRUPTED


def _check(words: Namespace) -> int:
    code, text = check(words.file)
    print(text, file=sys.stderr if code else sys.stdout)
    return code


def _schema(_words: Namespace) -> int:
    print(json.dumps(json_schema(), indent=2))
    return 0


def _probe(words: Namespace) -> int:
    # Tables and progress bars weigh several MiB, which the daemon should not carry.
    from exporter.cli.adhoc import find_target  # noqa: PLC0415
    from exporter.cli.probe import NOT_PROBED, probe  # noqa: PLC0415

    try:
        target, salt = find_target(words)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return NOT_PROBED
    if words.watch is not None:
        from exporter.cli.watch import watch  # noqa: PLC0415

        return watch(target, words.watch, salt)
    return probe(target, words.rounds, salt=salt, as_json=words.json)


def _run(words: Namespace) -> int:
    # The daemon's parts take a while to import, which `check` should not wait for.
    from exporter.cli.run import run  # noqa: PLC0415

    return run(words.config, words.listen)
