"""The command `tlsprobe`."""

import errno
import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from exporter.cli.arguments import make_parser, parse_words
from exporter.cli.complaint import say_once
from exporter.cli.listed import read_lists
from exporter.config.check import check
from exporter.config.json_schema import json_schema
from exporter.config.problem import ConfigError

FAILED = 1
UNWRITTEN = 2
INTERRUPTED = 130
UNREAD = 141  # what a shell shows for a program that SIGPIPE ended

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        try:
            return _run_command(words)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return UNREAD
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _drop_output()
        print(f"tlsprobe: cannot write: {error.strerror}; make room, or send the output elsewhere", file=sys.stderr)
        return UNWRITTEN


def _drop_output() -> None:
    """Let what is still to be written go nowhere: it would be tried again at the interpreter's end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run_command(words: Sequence[str] | None) -> int:
    parsed = parse_words(words)
    commands: dict[str, Callable[[Namespace], int]] = {
        "run": _run,
        "probe": _probe,
        "check": _check,
        "health": _health,
        "schema": _schema,
        "completion": _completion,
        "manual": _manual,
        "capacity": _capacity,
        "wave": _wave,
        "bench": _bench,
        "demo": _demo,
    }
    return commands[parsed.command](parsed)


def _check(words: Namespace) -> int:
    code, text = check(words.file) if words.config_only else check(words.file, read_lists)
    problems = _problems_of_lock(words.web_config)
    if problems is not None and not code:
        text = text.rpartition("\n")[0]  # without its last line, which says that all is well
    if text:
        print(say_once(text, words.file), file=sys.stderr if code else sys.stdout)
    if problems is not None:
        print(problems, file=sys.stderr)
    return code if problems is None else FAILED


def _problems_of_lock(file: Path | None) -> str | None:
    if file is None:
        return None
    # TLS contexts and all that belongs to them are needed for few configurations.
    from exporter.web.load import load_lock  # noqa: PLC0415

    try:
        load_lock(file)
    except ConfigError as error:
        return say_once(str(error), file)
    return None


def _schema(_words: Namespace) -> int:
    print(json.dumps(json_schema(), indent=2))
    return 0


def _probe(words: Namespace) -> int:
    # Tables and progress bars weigh several MiB, which the daemon should not carry.
    from exporter.cli.adhoc import find_target  # noqa: PLC0415
    from exporter.cli.probe import NOT_PROBED, probe  # noqa: PLC0415

    try:
        target, rules = find_target(words)
    except ConfigError as error:
        print(say_once(str(error), words.config), file=sys.stderr)
        return NOT_PROBED
    if words.watch is not None:
        from exporter.cli.watch import watch  # noqa: PLC0415

        return watch(target, rules, words.watch)
    return probe(target, rules, words.rounds or 1, as_json=words.json)


def _completion(words: Namespace) -> int:
    from exporter.cli.completion import complete  # noqa: PLC0415 - as above
    from exporter.cli.grammar import read_grammar  # noqa: PLC0415

    print(complete(words.shell, read_grammar(make_parser())), end="")
    return 0


def _manual(_words: Namespace) -> int:
    from exporter import __version__  # noqa: PLC0415 - as above
    from exporter.cli.grammar import read_grammar  # noqa: PLC0415
    from exporter.cli.manual import write_manual  # noqa: PLC0415

    print(write_manual(read_grammar(make_parser()), __version__), end="")
    return 0


def _health(words: Namespace) -> int:
    from exporter.cli.health import health  # noqa: PLC0415 - as above

    return health(words.url)


def _bench(words: Namespace) -> int:
    from exporter.cli.bench import bench  # noqa: PLC0415 - as above

    return bench(words.seconds, words.cert, words.key, as_json=words.json)


def _capacity(words: Namespace) -> int:
    from exporter.cli.capacity import capacity  # noqa: PLC0415 - as above

    return capacity(words)


def _wave(words: Namespace) -> int:
    from exporter.cli.wave import wave  # noqa: PLC0415 - as above

    return wave(words)


def _demo(words: Namespace) -> int:
    from exporter.cli.demo import demo  # noqa: PLC0415 - as above

    return demo(words)


def _run(words: Namespace) -> int:
    # The daemon's parts take a while to import, which `check` should not wait for.
    from exporter.cli.run import run  # noqa: PLC0415

    return run(words)
