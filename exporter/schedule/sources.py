"""Runs the sources of targets that are wanted now, each in a task of its own."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from exporter.model.target import Target
from exporter.schedule.roster import Roster

HandOver = Callable[[Sequence[Target]], None]
"""Takes all targets that a source knows now."""


class Source(Protocol):
    """Something that finds targets. Two that are equal do the same, so one can go on in the place of the other."""

    @property
    def name(self) -> str:
        """Unique among all sources, for people to read."""
        ...

    async def run(self, hand_over: HandOver) -> None:
        """Hand over all targets each time that they may have changed, until cancelled."""
        ...


@dataclass(frozen=True, slots=True)
class _Running:
    source: Source
    task: asyncio.Task[None]


class Sources:
    """The sources that run, and a roster that they hand over to.

    Args:
        group: holds their tasks.
        on_bug: told what a source raised; what it had handed over stays.
    """

    def __init__(self, group: asyncio.TaskGroup, roster: Roster, on_bug: Callable[[str, Exception], None]) -> None:
        self._group = group
        self._roster = roster
        self._on_bug = on_bug
        self._running: dict[str, _Running] = {}

    def apply(self, sources: Sequence[Source]) -> None:
        """Run these, and no others; those that run already go on.

        The targets of one that begins anew with other settings are probed until it hands over its first.
        """
        wanted = {source.name: source for source in sources}
        for name in list(self._running):
            if wanted.get(name) != self._running[name].source:
                self._running.pop(name).task.cancel()
            if name not in wanted:
                self._roster.withdraw(name)
        for name, source in wanted.items():
            if name not in self._running:
                task = self._group.create_task(self._run(source), name=f"source {name}")
                self._running[name] = _Running(source, task)

    async def _run(self, source: Source) -> None:
        try:
            await source.run(lambda targets: self._roster.hand_over(source.name, targets))
        except Exception as error:  # noqa: BLE001 -- a bug in one source must not end all the rest
            self._on_bug(source.name, error)
