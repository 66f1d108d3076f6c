"""Keeps the beat: one task for each target, all in one group, none of which can hold up or end another."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
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


async def keep_beat(
    targets: Collection[Target],
    run: Callable[[Target], Awaitable[None]],
    missed: Callable[[Target, int], None],
    on_bug: Callable[[Target, BaseException], None],
    *,
    clock: Clock = _SYSTEM,
) -> None:
    """Run the rounds of all targets until cancelled; cancelling ends all of them at once.

    A target's ticks lie at a stable phase of its interval. Its first round does not wait for a tick: first
    rounds are spread over the first five seconds, or over the interval where that is shorter.

    Args:
        targets: whom to probe; with none there is nothing to keep, and it returns.
        run: one round of a target.
        missed: told the number of ticks that went by while a round of the target ran; they are not made up for.
        on_bug: told what a round raised, which has no other consequence.
        clock: the time to live by.
    """
    async with asyncio.TaskGroup() as group:
        for target in targets:
            group.create_task(_follow(target, run, missed, on_bug, clock), name=f"beat of {target.name}")


async def _follow(
    target: Target,
    run: Callable[[Target], Awaitable[None]],
    missed: Callable[[Target, int], None],
    on_bug: Callable[[Target, BaseException], None],
    clock: Clock,
) -> None:
    interval = round(target.interval * _SECOND)
    due = clock.now() + phase_of(target.name, min(interval, _FIRST_ROUNDS_WITHIN))
    # A tick that comes right after the early first round would only double it.
    following = next_due(due + interval // 2, interval, phase_of(target.name, interval))
    while True:
        await clock.sleep(max(0, due - clock.now()) / _SECOND)
        await _run_guarded(target, run, on_bug)
        if ticks := _overslept(clock.now() - following, interval):
            missed(target, ticks)
        due = following + ticks * interval
        following = due + interval


def _overslept(late: int, interval: int) -> int:
    """Return how many ticks are lost when the next one is `late` nanoseconds ago, or ahead where it is negative.

    A tick that is late by up to a tenth of the interval is still served: a round that takes exactly its interval
    would lose every second tick otherwise.
    """
    return max(0, -((interval // 10 - late) // interval))


async def _run_guarded(
    target: Target, run: Callable[[Target], Awaitable[None]], on_bug: Callable[[Target, BaseException], None]
) -> None:
    try:
        await run(target)
    except asyncio.CancelledError as error:
        # Cancelled from inside the round, by nobody who meant this task: it would end the target in silence.
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        on_bug(target, error)
    except Exception as error:  # noqa: BLE001 -- a bug in one target's round must not end its siblings
        on_bug(target, error)
