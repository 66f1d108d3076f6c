"""Sources of targets from outside: looked at again and again, and told of when something changes."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from exporter.aside import begin_aside
from exporter.config.problem import Problem
from exporter.config.settings import ListingUrl, SourceSettings
from exporter.discovery.files import ListingFiles, Look
from exporter.model.source import Standing
from exporter.model.target import Target

HandOver = Callable[[Sequence[Target]], None]
LookAgain = Callable[[], Awaitable[Look]]

_TOLD_PROBLEMS = 10
_DEADLINE = 10.0  # seconds for one look at files
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Means:
    """What sources live by.

    Attributes:
        unix: seconds since 1970.
        sleep: waits for a number of seconds.
        chance: a number from 0 to 1.
    """

    unix: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


class Board:
    """How all sources do; read from any thread, written by the event loop alone."""

    def __init__(self) -> None:
        self._standings: dict[str, Standing] = {}

    def keep(self, names: Sequence[str]) -> None:
        """Know these sources, and no others."""
        self._standings = {name: self._standings.get(name, Standing()) for name in names}

    def note(self, name: str, look: Look, now: float) -> None:
        """Take down what a look brought; a source that is not known any more is not heard."""
        if (before := self._standings.get(name)) is None:
            return
        targets = None if look.targets is None else len(look.targets)
        if look.problems:
            after = replace(before, targets=targets, successful=False, failures=before.failures + 1)
        else:
            after = replace(before, targets=targets, successful=True, succeeded_at=now)
        self._standings = {**self._standings, name: after}  # whoever reads holds a mapping that does not change

    def read(self) -> Mapping[str, Standing]:
        """Return how each source does now."""
        return self._standings


@dataclass(frozen=True, slots=True)
class Outside:
    """One source; two of the same settings are equal, since they do the same.

    Attributes:
        board: where it is taken down how it does.
    """

    settings: SourceSettings
    board: Board = field(compare=False)
    means: Means = field(default_factory=Means, compare=False)

    @property
    def name(self) -> str:
        """Unique among all sources."""
        return self.settings.name

    async def run(self, hand_over: HandOver) -> None:
        """Hand over all targets each time that they may have changed, until cancelled."""
        look_again = _looker(self.settings)
        told: tuple[Problem, ...] = ()
        known: tuple[Target, ...] | None = None
        while True:
            look = await look_again()
            self.board.note(self.name, look, self.means.unix())
            if look.problems != told:
                self._tell(look)
                told = look.problems
            if look.targets is not None and look.targets != known:
                known = look.targets
                hand_over(known)
                _log.info("targets from outside", source=self.name, targets=len(known))
            await self.means.sleep(self.settings.refresh * (0.95 + self.means.chance() / 10))

    def _tell(self, look: Look) -> None:
        if not look.problems:
            _log.info("source is well again", source=self.name)
            return
        _log.warning(
            "list of targets not taken up",
            source=self.name,
            problems=[str(problem) for problem in look.problems[:_TOLD_PROBLEMS]],
            more=max(0, len(look.problems) - _TOLD_PROBLEMS),
            kept=len(look.targets or ()),
        )


class Looks:
    """Looks at files in a thread, one look at a time: a file system that hangs holds up neither us nor our end.

    Args:
        place: what problems call the source.
        work: makes one look; this blocks.
        deadline: seconds after which the source counts as failing, until the look comes to an end.
    """

    def __init__(self, place: str, work: Callable[[], Look], deadline: float = _DEADLINE) -> None:
        self._place = place
        self._work = work
        self._deadline = deadline
        self._known: tuple[Target, ...] | None = None
        self._running: asyncio.Future[Look] | None = None

    async def look(self) -> Look:
        """Return what the look brings, or that it takes too long."""
        if self._running is None:
            self._running = begin_aside(self._work, "files of a source")
        try:
            done, _ = await asyncio.wait([self._running], timeout=self._deadline)
        except asyncio.CancelledError:
            self._running.cancel()
            raise
        if not done:
            words = f"the file system gave no answer within {self._deadline:g} s"
            return Look(self._known, (Problem(self._place, None, "", words),))
        (ended,), self._running = done, None
        look = ended.result()
        self._known = look.targets
        return look


def _looker(settings: SourceSettings) -> LookAgain:
    match settings.place:
        case ListingUrl() as place:
            # Whoever reads files alone should not wait for an HTTP client to be loaded.
            from exporter.discovery.url import ListingAnswers  # noqa: PLC0415

            return ListingAnswers(settings, place).look
        case pattern:
            return Looks(pattern, ListingFiles(settings, pattern).look).look
