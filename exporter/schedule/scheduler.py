"""Keeps the beat: one task for each target, all in one group, none of which can hold up or end another."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from exporter.model.target import Target
from exporter.schedule.phase import next_due, phase_of

_SECOND = 1_000_000_000
_FIRST_ROUNDS_WITHIN = 5 * _SECOND


@dataclass(frozen=True, slots=True)
class Clock:
    """Where the scheduler takes its time from.

    Attributes:
        now: nanoseconds, never going back.
        sleep: waits for a number of seconds.
    """

    now: Callable[[], int] = time.monotonic_ns
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


_SYSTEM = Clock()


@dataclass(frozen=True, slots=True)
class Work:
    """What the beat is for.

    Attributes:
        run: one round of a target.
        missed: told the number of ticks that went by while a round of the target ran; they are not made up for.
        on_bug: told what a round raised, which has no other consequence.
    """

    run: Callable[[Target], Awaitable[None]]
    missed: Callable[[Target, int], None]
    on_bug: Callable[[Target, BaseException], None]


class Beat:
    """The rounds of a set of targets that may change while they run.

    A target's ticks lie at a stable phase of its interval. Its first round does not wait for a tick: first
    rounds are spread over the first five seconds, or over the interval where that is shorter.

    Args:
        group: holds a task for each target; cancelling it ends all rounds at once.
        clock: the time to live by.
    """

    def __init__(self, group: asyncio.TaskGroup, work: Work, *, clock: Clock = _SYSTEM) -> None:
        self._group = group
        self._work = work
        self._clock = clock
        self._pulses: dict[str, _Pulse] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Of the targets that are probed."""
        return tuple(self._pulses)

    def begin(self, target: Target) -> None:
        """Probe a target from now on; none of its name may be probed yet."""
        pulse = self._pulses[target.name] = _Pulse(target, self._work, self._clock)
        self._follow(pulse)

    def end(self, name: str) -> None:
        """Probe a target no longer; a round of it that is under way is cut short."""
        self._pulses.pop(name).stop()

    def alter(self, target: Target) -> None:
        """Let a target's next round be made with other settings; a round under way ends with its own.

        With the same interval its ticks stay where they are, with another one they move.
        """
        pulse = self._pulses[target.name]
        if pulse.alter(target):
            pulse.stop()
            self._follow(pulse)

    def _follow(self, pulse: "_Pulse") -> None:
        pulse.task = self._group.create_task(pulse.follow(), name=f"beat of {pulse.target.name}")


class _Pulse:
    """One target's beat.

    Attributes:
        target: as the next round is to know it.
        task: that follows the beat.
    """

    def __init__(self, target: Target, work: Work, clock: Clock) -> None:
        self.target = target
        self.task: asyncio.Task[None] | None = None
        self._work = work
        self._clock = clock
        self._begun = self._at_work = False
        self._due = self._following = 0
        self._set_first()

    @property
    def _interval(self) -> int:
        return round(self.target.interval * _SECOND)

    def alter(self, target: Target) -> bool:
        """Take other settings; return whether the wait for the next tick has to begin again."""
        moved = target.interval != self.target.interval
        self.target = target
        if not moved:
            return False
        if not self._begun:
            self._set_first()
        else:
            self._following = self._next_due(self._clock.now())
            if not self._at_work:
                self._step()
        return not self._at_work

    def stop(self) -> None:
        """End at once."""
        if self.task is not None:
            self.task.cancel()

    async def follow(self) -> None:
        """Run round after round, until cancelled."""
        while True:
            await self._clock.sleep(max(0, self._due - self._clock.now()) / _SECOND)
            self._begun = self._at_work = True
            await self._run_guarded(self.target)
            self._at_work = False
            if ticks := _overslept(self._clock.now() - self._following, self._interval):
                self._work.missed(self.target, ticks)
            self._step(ticks)

    def _set_first(self) -> None:
        """Let the first round be due soon."""
        self._due = self._clock.now() + phase_of(self.target.name, min(self._interval, _FIRST_ROUNDS_WITHIN))
        # A tick that comes right after the early first round would only double it.
        self._following = self._next_due(self._due + self._interval // 2)

    def _step(self, lost: int = 0) -> None:
        """Let the next round be due at the tick that follows, or so many later."""
        self._due = self._following + lost * self._interval
        self._following = self._due + self._interval

    def _next_due(self, now: int) -> int:
        return next_due(now, self._interval, phase_of(self.target.name, self._interval))

    async def _run_guarded(self, target: Target) -> None:
        try:
            await self._work.run(target)
        except asyncio.CancelledError as error:
            # Cancelled from inside the round, by nobody who meant this task: it would end the target in silence.
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            self._work.on_bug(target, error)
        except Exception as error:  # noqa: BLE001 -- a bug in one target's round must not end its siblings
            self._work.on_bug(target, error)


def _overslept(late: int, interval: int) -> int:
    """Return how many ticks are lost when the next one is `late` nanoseconds ago, or ahead where it is negative.

    A tick that is late by up to a tenth of the interval is still served: a round that takes exactly its interval
    would lose every second tick otherwise.
    """
    return max(0, -((interval // 10 - late) // interval))
