"""`tlsprobe run`: the daemon."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from exporter import app
from exporter.cli.complaint import blame, say_once
from exporter.config.load import load
from exporter.config.problem import ConfigError, RefusedError
from exporter.config.settings import Config, ReferenceSettings
from exporter.config.values import parse_listen_address
from exporter.log import Detached, configure

FAILED = 1
_LAST_LINES = 0.5  # seconds

# Without a configuration somebody has a first look, and should see figures move.
_DEMONSTRATION = Config(reference=ReferenceSettings(interval=10.0))


def run(file: Path | None, listen: Sequence[str] | None) -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    try:
        config = _DEMONSTRATION if file is None else load(file)
        where = tuple(map(_parse, listen)) if listen else config.listen
    except ConfigError as error:
        print(say_once(str(error), file), file=sys.stderr)
        return FAILED
    with ExitStack() as stack:
        # Whoever closed our error output wants no log, and the probing all the same.
        stream = sys.stderr or stack.enter_context(Path(os.devnull).open("w"))
        lines = Detached(stream)
        stack.callback(lines.finish, _LAST_LINES)
        configure(config.log.level, config.log.format, lines)
        return asyncio.run(app.run(config, where))


def _parse(address: str) -> str:
    try:
        return parse_listen_address(address)
    except RefusedError as refusal:
        raise ConfigError((blame("--web.listen-address", refusal),)) from None
