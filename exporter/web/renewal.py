"""The lock of a file, made anew when the file or one that it names has changed."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from exporter.aside import aside
from exporter.config.problem import ConfigError, Problem
from exporter.web.load import load_lock, stamp
from exporter.web.lock import Lock

_PAUSE = 1.0  # seconds between two looks; a look asks for a few files' state and reads none
_SETTLED = 0.5  # seconds in which a file that was just changed may still be being written

Tell = Callable[[str | None], None]
"""Takes why a changed file was not taken up, or None when it was."""


class Renewal:
    """Holds the lock that is in force: the last one that was whole.

    Args:
        file: where it is from; None where there is none, and nothing ever changes.
        first: the lock to begin with.
        clock: Unix time in seconds, since it is held against the files' own.
        tell: is told of each change.
    """

    def __init__(self, file: Path | None, first: Lock, clock: Callable[[], float], tell: Tell) -> None:
        self.lock = first
        self._file = file
        self._clock = clock
        self._tell = tell
        self._told: str | None = None

    async def keep(self) -> None:
        """Look after the files until cancelled, in a thread, since a disk may hang."""
        if (file := self._file) is None:
            return
        while True:
            await asyncio.sleep(_PAUSE)
            await aside(lambda: self.look(file), "web configuration")

    def look(self, file: Path) -> None:
        """Take up what has changed, whole or not at all."""
        found = {path: stamp(path) for path in self.lock.stamps}
        if found == self.lock.stamps or any(
            0 <= self._age(each.modified) < _SETTLED for each in found.values() if each
        ):
            return
        try:
            lock = load_lock(file)
            self._refuse_exposure(file, lock)
        except ConfigError as error:
            self._say(str(error))
            return
        self.lock = lock
        self._told = None
        self._tell(None)

    def _refuse_exposure(self, file: Path, lock: Lock) -> None:
        """Refuse to begin or to end with TLS while we run: clients would send passwords to the wrong one of both."""
        if (lock.tls is None) is not (self.lock.tls is None):
            found = "TLS cannot be switched on or off without a restart"
            raise ConfigError((Problem(str(file), None, "tls_server_config", found),))

    def _age(self, modified: int) -> float:
        return self._clock() - modified / 1e9

    def _say(self, problem: str) -> None:
        if problem != self._told:  # it is tried again at each look, since a file that is missing may yet come
            self._told = problem
            self._tell(problem)
