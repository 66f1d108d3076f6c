"""What several sources name, put together, and the sources at work."""

import asyncio
from dataclasses import dataclass, field

from exporter.model.target import Endpoint, Target
from exporter.schedule.roster import CONFIGURATION, Clash, Roster, Union
from exporter.schedule.sources import HandOver, Sources


def target(name: str, interval: float = 30.0) -> Target:
    """Return a target of which only name and interval matter."""
    return Target(name, Endpoint("127.0.0.1", 443), "localhost", interval=interval)


A, B, C = target("a"), target("b"), target("c")


def test_union() -> None:
    """Each source's last word counts, and a source that is withdrawn takes its targets along."""
    unions: list[Union] = []
    roster = Roster(unions.append)
    roster.hand_over("files", [C])
    roster.hand_over(CONFIGURATION, [A])
    roster.hand_over("files", [B, C])
    roster.withdraw("files")

    assert [union.chosen for union in unions] == [(C,), (A, C), (A, B, C), (A,)]
    assert [union.total for union in unions] == [1, 2, 3, 1]


def test_same_again() -> None:
    """Handing over the same targets again changes nothing; the first word counts even if it names none."""
    unions: list[Union] = []
    roster = Roster(unions.append)
    for targets in ([], [], [A], [target("a")]):
        roster.hand_over(CONFIGURATION, targets)

    assert [union.chosen for union in unions] == [(), (A,)]


def test_clashes() -> None:
    """A name belongs to the configuration ahead of all others, and then to the source that is the first by name."""
    unions: list[Union] = []
    roster = Roster(unions.append)
    roster.hand_over("first", [target("a", 10), target("b", 10)])
    roster.hand_over("second", [target("b", 20), C, target("c", 20), C])
    roster.hand_over(CONFIGURATION, [A])

    assert unions[-1].chosen == (A, target("b", 10), C)
    assert unions[-1].clashes == (
        Clash("a", "first", CONFIGURATION),
        Clash("b", "second", "first"),
        Clash("c", "second", "second"),
    )
    assert unions[-1].total == 3


def test_order_of_hearing() -> None:
    """Shards that hear the same sources in different orders come to the same union."""
    ends: list[Union] = []
    lists = {"east": [A, target("b", 10)], "west": [target("b", 20), C]}
    for order in (("east", "west"), ("west", "east")):
        unions: list[Union] = []
        roster = Roster(unions.append)
        for source in order:
            roster.hand_over(source, lists[source])
        ends.append(unions[-1])

    assert ends[0] == ends[1]
    assert ends[0].clashes == (Clash("b", "west", "east"),)


def test_choice() -> None:
    """What others probe is counted and not handed on, and each source is chosen from by itself."""
    unions: list[Union] = []
    roster = Roster(unions.append, lambda targets: targets[:1])
    roster.hand_over(CONFIGURATION, [A, B])
    roster.hand_over("files", [C, target("d")])

    assert unions[-1] == Union(4, (A, C))


@dataclass(frozen=True, slots=True)
class Scripted:
    """A source that hands over its targets once, and then waits or fails.

    Attributes:
        runs: grows with each begin.
    """

    name: str
    targets: tuple[Target, ...]
    broken: bool = False
    runs: list[str] = field(default_factory=list, compare=False)

    async def run(self, hand_over: HandOver) -> None:
        """Do as the script says."""
        self.runs.append(self.name)
        hand_over(self.targets)
        if self.broken:
            raise ValueError("a bug")
        await asyncio.Event().wait()


async def test_sources() -> None:
    """Equal sources go on, changed ones begin anew, and those that are gone take their targets along."""
    unions: list[Union] = []
    runs: list[str] = []
    async with asyncio.TaskGroup() as group:
        sources = Sources(group, Roster(unions.append), lambda *_: None)
        for wanted in (
            [Scripted("x", (A,), runs=runs), Scripted("y", (B,), runs=runs)],
            [Scripted("x", (A,), runs=runs), Scripted("y", (B, C), runs=runs)],
            [Scripted("x", (A,), runs=runs)],
            [],
        ):
            sources.apply(wanted)
            await asyncio.sleep(0)

    assert runs == ["x", "y", "y"]
    assert [union.chosen for union in unions] == [(A,), (A, B), (A, B, C), (A,), ()]


async def test_a_bug_in_a_source() -> None:
    """A source that raises is told of, what it had found stays, and the others go on."""
    unions: list[Union] = []
    bugs: list[str] = []
    async with asyncio.TaskGroup() as group:
        sources = Sources(group, Roster(unions.append), lambda name, error: bugs.append(f"{name}: {error}"))
        sources.apply([Scripted("x", (A,), broken=True), Scripted("y", (B,))])
        await asyncio.sleep(0)
        left = unions[-1].chosen
        sources.apply([])

    assert bugs == ["x: a bug"]
    assert left == (A, B)
