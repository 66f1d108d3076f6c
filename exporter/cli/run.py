"""`tlsprobe run`: the daemon."""

import asyncio
import os
import sys
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path

from exporter import app
from exporter.cli.complaint import say_once
from exporter.cli.door import find_door
from exporter.config.load import load
from exporter.config.problem import ConfigError
from exporter.config.settings import Config, ReferenceSettings
from exporter.log import Detached, configure
from exporter.web.listen import ListenError

FAILED = 1
_LAST_LINES = 0.5  # seconds

# Without a configuration somebody has a first look, and should see figures move.
_DEMONSTRATION = Config(reference=ReferenceSettings(interval=10.0))


def run(words: Namespace) -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    file: Path | None = words.config
    try:
        config = _DEMONSTRATION if file is None else load(file)
        door = find_door(words, config.listen)
    except (ConfigError, ListenError) as error:
        print(say_once(say_once(str(error), file), words.web_config), file=sys.stderr)
        return FAILED
    with ExitStack() as stack:
        # Whoever closed our error output wants no log, and the probing all the same.
        stream = sys.stderr or stack.enter_context(Path(os.devnull).open("w"))
        lines = Detached(stream)
        stack.callback(lines.finish, _LAST_LINES)
        configure(config.log.level, config.log.format, lines)
        return asyncio.run(app.run(config, door))
