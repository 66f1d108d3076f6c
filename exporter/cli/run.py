"""`tlsprobe run`: the daemon."""

import asyncio
import os
import socket
import sys
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path

from exporter import app
from exporter.cli.complaint import say_once
from exporter.cli.door import find_door
from exporter.cli.shard import find_shard
from exporter.config.contents import Contents
from exporter.config.load import load
from exporter.config.problem import ConfigError
from exporter.config.settings import Config, ReferenceSettings
from exporter.discovery.shard import WHOLE
from exporter.log import Detached, configure
from exporter.web.listen import ListenError

FAILED = 1
_LAST_LINES = 0.5  # seconds

# Without a configuration somebody has a first look, and should see figures move.
_DEMONSTRATION = Config(reference=ReferenceSettings(interval=10.0))


def run(words: Namespace) -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    file: Path | None = words.config
    contents = Contents()
    try:
        config = _DEMONSTRATION if file is None else load(file, contents)
        door = find_door(words, config.listen)
        shard = WHOLE if words.shard is None else find_shard(words.shard, os.environ, socket.gethostname())
    except (ConfigError, ListenError) as error:
        print(say_once(say_once(str(error), file), words.web_config), file=sys.stderr)
        return FAILED
    with ExitStack() as stack:
        # Whoever closed our error output wants no log, and the probing all the same.
        stream = sys.stderr or stack.enter_context(Path(os.devnull).open("w"))
        lines = Detached(stream)
        stack.callback(lines.finish, _LAST_LINES)
        configure(config.log.level, config.log.format, lines)
        return asyncio.run(app.run(app.Start(config, file, contents, shard), door))
