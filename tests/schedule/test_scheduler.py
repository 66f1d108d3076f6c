"""Rounds on their beat, in virtual time."""

import asyncio
import itertools
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from exporter.model.target import Endpoint, Target
from exporter.schedule.phase import phase_of
from exporter.schedule.scheduler import Beat, Work
from tests.schedule.timeline import Timeline

SECOND = 1_000_000_000
Run = Callable[[Target], Awaitable[None]]


def target(name: str, interval: float = 30.0) -> Target:
    """Return a target of which only name and interval matter."""
    return Target(name, Endpoint("127.0.0.1", 443), "localhost", interval=interval)


class Stage:
    """A scheduler at work on a timeline, and what it did."""

    def __init__(self) -> None:
        self.timeline = Timeline(now=1_000 * SECOND)
        self.starts: dict[str, list[int]] = defaultdict(list)
        self.missed: dict[str, list[int]] = defaultdict(list)
        self.bugs: dict[str, list[BaseException]] = defaultdict(list)

    @asynccontextmanager
    async def playing(self, targets: Collection[Target], run: Run) -> AsyncIterator[Beat]:
        """Keep the beat of these targets for as long as the block lasts."""

        async def record(each: Target) -> None:
            self.starts[each.name].append(self.timeline.now)
            await run(each)

        work = Work(
            record,
            lambda each, ticks: self.missed[each.name].append(ticks),
            lambda each, error: self.bugs[each.name].append(error),
        )
        async with asyncio.TaskGroup() as group:
            beat = Beat(group, work, clock=self.timeline.clock)
            for each in targets:
                beat.begin(each)
            yield beat
            for name in beat.names:
                beat.end(name)


async def at_once(_: Target) -> None:
    """Run a round that takes no time."""


async def test_first_rounds_come_soon() -> None:
    """Every target has begun its first round within five seconds, and they do not all begin together."""
    stage = Stage()
    targets = [target(f"t{number}", interval=3600) for number in range(50)]
    async with stage.playing(targets, at_once):
        await stage.timeline.pass_by(5)

    firsts = sorted(first - 1_000 * SECOND for first, *_ in stage.starts.values())
    assert len(firsts) == 50
    assert firsts[-1] - firsts[0] > 4 * SECOND


async def test_a_short_interval_bounds_the_first_wait() -> None:
    """A target probed each second does not wait five for its first round."""
    stage = Stage()
    async with stage.playing([target("quick", interval=1)], at_once):
        await stage.timeline.pass_by(1)

    assert len(stage.starts["quick"]) == 1


async def test_rounds_are_on_the_beat() -> None:
    """After the first one, rounds begin exactly on each target's phase and no interval is left out or doubled."""
    stage = Stage()
    targets = [target(f"t{number}") for number in range(50)]
    async with stage.playing(targets, at_once):
        await stage.timeline.pass_by(300)

    for name, (first, *others) in stage.starts.items():
        assert {(start - phase_of(name, 30 * SECOND)) % (30 * SECOND) for start in others} == {0}
        assert {after - before for before, after in itertools.pairwise(others)} == {30 * SECOND}
        assert 15 * SECOND <= others[0] - first <= 45 * SECOND
        assert len(others) >= 8
    assert len(stage.starts) == 50
    assert not stage.missed


@pytest.mark.parametrize(
    ("takes", "missed", "gaps"),
    [
        pytest.param(9.0, set(), {10}, id="within the interval"),
        pytest.param(10.0, set(), {10}, id="exactly the interval"),
        pytest.param(10.9, {1}, {10.9, 19.1}, id="a little late is served at once, more is lost"),
        pytest.param(12.0, {1}, {20}, id="every second tick lost"),
        pytest.param(35.0, {3}, {40}, id="three ticks lost"),
        pytest.param(600.0, {59}, {600}, id="a suspended machine"),
    ],
)
async def test_long_rounds(takes: float, missed: set[int], gaps: set[float]) -> None:
    """Ticks that pass while a round runs are counted and not made up for; the next round is on the beat again."""
    stage = Stage()
    async with stage.playing([target("slow", interval=10)], lambda _: stage.timeline.sleep(takes)):
        await stage.timeline.pass_by(5_000)

    starts = stage.starts["slow"][2:]  # the first two are not a whole interval apart
    assert {(after - before) / SECOND for before, after in itertools.pairwise(starts)} == gaps
    assert set(stage.missed["slow"][1:]) == missed


async def test_a_slow_target_holds_up_nobody() -> None:
    """While one target's round never ends, another keeps its beat."""
    stage = Stage()

    async def run(each: Target) -> None:
        if each.name == "stuck":
            await asyncio.Event().wait()

    async with stage.playing([target("stuck"), target("fine")], run):
        await stage.timeline.pass_by(300)

    assert len(stage.starts["stuck"]) == 1
    assert len(stage.starts["fine"]) >= 10


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ValueError("a bug"), id="an exception"),
        pytest.param(asyncio.CancelledError(), id="a cancellation from within the round"),
    ],
)
async def test_a_bug_is_told_and_the_siblings_live(error: BaseException) -> None:
    """What a round raises is handed on; the target itself and its siblings go on."""
    stage = Stage()

    async def run(each: Target) -> None:
        if each.name == "bad":
            raise error

    async with stage.playing([target("bad"), target("fine")], run):
        await stage.timeline.pass_by(300)

    assert len(stage.starts["bad"]) >= 10
    assert stage.bugs == {"bad": [error] * len(stage.starts["bad"])}
    assert len(stage.starts["fine"]) >= 10


async def test_cancelling_ends_all_at_once() -> None:
    """Rounds under way are cancelled with the scheduler, and none is left behind."""
    stage = Stage()
    ended: list[str] = []

    async def run(each: Target) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(each.name)

    async with stage.playing([target("a"), target("b")], run):
        await stage.timeline.pass_by(10)

    assert sorted(ended) == ["a", "b"]
    assert not stage.bugs
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_others_come_and_go() -> None:
    """Targets that begin or end leave the ticks of the others where they are."""
    undisturbed, changing = Stage(), Stage()
    async with undisturbed.playing([target("shop")], at_once):
        await undisturbed.timeline.pass_by(600)
    async with changing.playing([target("shop")], at_once) as beat:
        for number in range(60):
            beat.begin(target(f"t{number}"))
            await changing.timeline.pass_by(10)
            beat.end(f"t{number}")

    assert changing.starts["shop"] == undisturbed.starts["shop"]
    assert all(len(starts) <= 2 for name, starts in changing.starts.items() if name != "shop")


async def test_an_end_cuts_the_round() -> None:
    """The round of a target that ends is over at once, and nothing is told of it."""
    stage = Stage()
    ended: list[str] = []

    async def run(each: Target) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(each.name)

    async with stage.playing([target("gone"), target("stays")], run) as beat:
        await stage.timeline.pass_by(5)
        beat.end("gone")
        await stage.timeline.pass_by(5)

        assert ended == ["gone"]
    assert not stage.bugs


async def test_other_settings() -> None:
    """With the same interval the next round takes the new settings, at the very tick at which it would have been."""
    stage = Stage()
    seen: list[float] = []

    async def run(each: Target) -> None:
        seen.append(each.timeout)

    async with stage.playing([target("shop", interval=10)], run) as beat:
        await stage.timeline.pass_by(101)
        before = list(stage.starts["shop"])
        beat.alter(replace(target("shop", interval=10), timeout=1.0))
        await stage.timeline.pass_by(100)

    assert seen == [5.0] * len(before) + [1.0] * 10
    assert {after - before for before, after in itertools.pairwise(stage.starts["shop"][1:])} == {10 * SECOND}


@pytest.mark.parametrize(("before", "after"), [(3600.0, 10.0), (10.0, 3600.0), (30.0, 20.0)])
async def test_another_interval(before: float, after: float) -> None:
    """With another interval the ticks are where they would be if it had been so from the start."""
    stage = Stage()
    async with stage.playing([target("shop", interval=before)], at_once) as beat:
        await stage.timeline.pass_by(100)
        done = len(stage.starts["shop"])
        beat.alter(target("shop", interval=after))
        now = stage.timeline.now
        await stage.timeline.pass_by(3 * after)

    nanoseconds = round(after * SECOND)
    starts = stage.starts["shop"][done:]
    assert len(starts) == 3
    assert 0 < starts[0] - now <= nanoseconds
    assert {(start - phase_of("shop", nanoseconds)) % nanoseconds for start in starts} == {0}


async def test_another_interval_during_a_round() -> None:
    """A round under way ends as it began, and the new interval's ticks follow it."""
    stage = Stage()
    async with stage.playing([target("shop", interval=3600)], lambda _: stage.timeline.sleep(7)) as beat:
        await stage.timeline.pass_by(5)
        beat.alter(target("shop", interval=10))
        await stage.timeline.pass_by(60)

    assert {after - before for before, after in itertools.pairwise(stage.starts["shop"][1:])} == {10 * SECOND}
    assert len(stage.starts["shop"]) >= 6


async def test_another_interval_before_the_first_round() -> None:
    """Whoever is altered before its first round does not wait for a tick of the new interval either."""
    stage = Stage()
    async with stage.playing([target("shop", interval=10)], at_once) as beat:
        beat.alter(target("shop", interval=3600))
        await stage.timeline.pass_by(5)

    assert len(stage.starts["shop"]) == 1


async def test_the_system_clock() -> None:
    """Without a clock of its own it lives by the system's."""
    rounds = 0
    enough = asyncio.Event()

    async def run(_: Target) -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 3:
            enough.set()

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        beat = Beat(group, Work(run, lambda *_: None, lambda *_: None))
        beat.begin(target("shop", interval=0.05))
        await enough.wait()
        beat.end("shop")
