"""Takes up a changed configuration, whole or not at all."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import structlog
from structlog.typing import FilteringBoundLogger

from exporter.aside import aside
from exporter.config.contents import Contents, Digest
from exporter.config.files import look_at
from exporter.config.load import load
from exporter.config.problem import ConfigError
from exporter.config.settings import Config
from exporter.metrics.own import Reload

PAUSE = 2.0
"""Seconds between two looks at the files."""

_log: FilteringBoundLogger = structlog.get_logger()


class Reloader:
    """Reads a configuration file again when it is asked to, or when it or a file that it names holds something else.

    Attributes:
        last: how the last attempt went.

    Args:
        file: the configuration.
        config: what was read from it, and is in force now.
        contents: what the files held then.
        take_up: puts another configuration in force.
        pause: seconds between two looks at the files.
    """

    def __init__(
        self,
        file: Path,
        config: Config,
        contents: Contents,
        take_up: Callable[[Config], None],
        pause: float = PAUSE,
    ) -> None:
        self.last = Reload(successful=True, succeeded_at=time.time())
        self._file = file
        self._first = config
        self._good = self._tried = contents.digests
        self._take_up = take_up
        self._pause = pause
        self._lock = asyncio.Lock()

    async def reload(self) -> str | None:
        """Read it now; return all that is wrong with it, or None when it is in force."""
        async with self._lock:
            contents = Contents()
            try:
                config = await aside(lambda: load(self._file, contents), "configuration")
            except ConfigError as error:
                self._tried = {**self._good, **contents.digests}
                self._refuse(error)
                return str(error)
            self._good = self._tried = contents.digests
            for setting in fixed_settings(self._first, config):
                _log.warning("a changed setting waits for a restart", setting=setting)
            self._take_up(config)
            self.last = Reload(successful=True, succeeded_at=time.time())
            _log.info("configuration taken up", targets=len(config.targets), sources=len(config.discover))
            return None

    async def heed(self, hangup: asyncio.Event) -> None:
        """Reload at each signal, until cancelled."""
        while True:
            await hangup.wait()
            hangup.clear()
            await self.reload()

    async def watch(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Reload when a file holds something else than at the last attempt, until cancelled.

        A file may be seen half written, so that only what two looks in a row found alike is taken up.
        """
        seen: Mapping[Path, Digest] = {}
        while True:
            await sleep(self._pause)
            found = await aside(partial(_look, tuple(self._tried)), "configuration")
            if found == seen and found != self._tried:
                await self.reload()
            seen = found

    def _refuse(self, error: ConfigError) -> None:
        self.last = replace(self.last, successful=False)
        for problem in error.problems:
            _log.error("configuration not taken up, the one before it holds", problem=str(problem))


def _look(paths: Sequence[Path]) -> Mapping[Path, Digest]:
    return {path: look_at(path) for path in paths}


def fixed_settings(first: Config, now: Config) -> list[str]:
    """Return the names of settings that differ and cannot change while we run.

    Args:
        first: what was in force at the start.
        now: what the file says.
    """
    pairs = {
        "listen": (first.listen, now.listen),
        "ticket_keys.state_file": (first.ticket_keys.state_file, now.ticket_keys.state_file),
        "ticket_keys.salt": (first.ticket_keys.salt, now.ticket_keys.salt),
        "reference": (first.reference, now.reference),
        "log.format": (first.log.format, now.log.format),
    }
    return [name for name, (before, after) in pairs.items() if before != after]
