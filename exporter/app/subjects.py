"""The targets that are probed now: what is remembered of each, and the tasks that follow it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exporter.model.target import IdleScope, Resolved, Target
from exporter.model.verdicts import RoundResult
from exporter.probe.dial import Dialler
from exporter.probe.idling import IdleWatch
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from exporter.schedule.changes import Changes, find_changes
from exporter.schedule.scheduler import Beat, Work
from exporter.verdict.history import EMPTY, History


@dataclass(slots=True)
class Subject:
    """One target, and what is remembered of it.

    Attributes:
        target: as its next round is to know it.
        begun: whether its first round has begun.
        holding: the task that holds its connections, where some are held.
    """

    target: Target
    memory: Memory
    begun: bool = False
    holding: asyncio.Task[None] | None = None


Find = Callable[[Target], Awaitable[Resolved]]
"""Says what a target stands for now."""


@dataclass(frozen=True, slots=True)
class Ears:
    """Who is told what becomes of rounds.

    Attributes:
        result: of a round that was made.
        missed: how many ticks of a target went by while a round of it ran.
        bug: what a round, or a watch of idle connections, raised.
    """

    result: Callable[[RoundResult], None]
    missed: Callable[[Target, int], None]
    bug: Callable[[Target, BaseException], None]


class Subjects:
    """A set of targets that may change while their rounds are made.

    Attributes:
        prober: makes the rounds that begin from now on.

    Args:
        group: holds all tasks.
        find: is asked before each round.
    """

    def __init__(self, group: asyncio.TaskGroup, dialler: Dialler, find: Find, prober: Prober, ears: Ears) -> None:
        self.prober = prober
        self._group = group
        self._dialler = dialler
        self._find = find
        self._ears = ears
        self._beat = Beat(group, Work(self._run_round, ears.missed, ears.bug))
        self._subjects: dict[str, Subject] = {}

    def __iter__(self) -> Iterator[Subject]:
        return iter(self._subjects.values())

    def get(self, name: str) -> Subject | None:
        """Return the one of this name."""
        return self._subjects.get(name)

    def apply(self, targets: Sequence[Target], histories: Mapping[str, History]) -> Changes:
        """Probe these targets and no others; whoever has not changed notices nothing of it.

        Args:
            targets: no two of one name.
            histories: what new ones begin with; one that is not in it begins with nothing.
        """
        changes = find_changes({subject.target.name: subject.target for subject in self}, targets)
        for target in changes.ended:
            self._end(target.name)
        for target in changes.begun:
            self._begin(target, histories.get(target.name, EMPTY))
        for target in changes.altered:
            self._alter(target)
        for target in changes.renewed:
            self._subjects[target.name].memory.forget_sessions()
        self._dialler.keep_contexts({subject.target.tls for subject in self})
        return changes

    def _begin(self, target: Target, history: History) -> None:
        subject = self._subjects[target.name] = Subject(target, Memory(history=history))
        self._hold(subject)
        self._beat.begin(target)

    def _end(self, name: str) -> None:
        self._let_go(self._subjects.pop(name))
        self._beat.end(name)

    def _alter(self, target: Target) -> None:
        subject = self._subjects[target.name]
        before, subject.target = subject.target, target
        if _holding(before) != _holding(target):
            self._let_go(subject)
            self._hold(subject)
        self._beat.alter(target)

    def _hold(self, subject: Subject) -> None:
        target = subject.target
        if not target.http.enabled or target.probe.idle is IdleScope.OFF:
            return
        watch = subject.memory.watch = IdleWatch(target, self._dialler.hold, time.monotonic)
        subject.holding = self._group.create_task(self._watch(target, watch), name=f"hold for {target.name}")

    def _let_go(self, subject: Subject) -> None:
        if subject.holding is not None:
            subject.holding.cancel()
        subject.holding = subject.memory.watch = None

    async def _watch(self, target: Target, watch: IdleWatch) -> None:
        try:
            await watch.run()
        except Exception as error:  # noqa: BLE001 -- a bug in one target's watch must not end all the rest
            self._ears.bug(target, error)

    async def _run_round(self, target: Target) -> None:
        subject = self._subjects[target.name]
        subject.begun = True
        found = await self._find(target)
        others = {name: self._subjects[name].memory for name in target.share_with if name in self._subjects}
        result = await self.prober.run_round(target, found, subject.memory, others)
        if subject.target.tls != target.tls:
            # What this round has brought belongs to a context that is out of use by now.
            subject.memory.forget_sessions()
        self._ears.result(result)


def _holding(target: Target) -> tuple[bool, IdleScope, float]:
    """Return what a watch of idle connections is made for."""
    return target.http.enabled, target.probe.idle, target.probe.idle_bound
