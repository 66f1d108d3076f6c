"""How the story is paced, with a clock that a test moves."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from exporter.demo.fleet import Order
from exporter.demo.play import Stage, play
from exporter.demo.story import LENGTH, STORY, Sight, Step, pace_of
from exporter.model.target import TlsVersion
from exporter.model.verdicts import TargetState

CONSISTENT, SPLIT = TargetState.CONSISTENT, TargetState.SPLIT
ADDRESSES = ("a:1", "b:1", "c:1")


@dataclass
class Theatre:
    """A stage on which the fleet is in a state from some moment on."""

    sights: dict[float, Sight]
    now: float = 0.0
    obeyed: list[tuple[float, Order]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def stage(self, turn_page: Callable[[], None] | None = None) -> Stage:
        """Return what playing needs."""
        return Stage(ADDRESSES, self._obey, self._look, self._sleep, lambda: self.now, self.told.append, turn_page)

    def _obey(self, order: Order) -> None:
        self.obeyed.append((self.now, order))

    def _look(self) -> Sight:
        return [sight for since, sight in self.sights.items() if since <= self.now][-1]

    def _sleep(self, seconds: float) -> None:
        self.now += seconds


def sight(state: TargetState, *odd: str, breaks: int = 0) -> Sight:
    """Make a sight of both versions alike."""
    return Sight(dict.fromkeys(TlsVersion, state), frozenset(odd), breaks)


FIRST = Step(0, "begins", "look", CONSISTENT)
SECOND = Step(10, "splits", "look", SPLIT, orders=(Order(0, "k"), Order(1, "k")), pause=4, odd=(2,))


@pytest.mark.parametrize(
    ("sights", "seen"),
    [
        pytest.param({0: sight(CONSISTENT), 16: sight(SPLIT, "c:1")}, True, id="as told"),
        pytest.param({0: sight(CONSISTENT), 16: sight(SPLIT, "b:1")}, False, id="another one stands out"),
        pytest.param({0: sight(CONSISTENT)}, False, id="nothing comes of it"),
        pytest.param({0: Sight({}, frozenset(), 0)}, False, id="no round at all"),
    ],
)
def test_what_is_seen(sights: dict[float, Sight], seen: bool) -> None:
    """The story goes on only with what the exporter really says."""
    theatre = Theatre(sights)

    assert play((FIRST, SECOND), theatre.stage(), pace_of(1)) is seen
    assert any("not seen" in line for line in theatre.told) is not seen


@pytest.mark.parametrize(
    ("deaths", "seen"), [pytest.param(2, True, id="all have died"), pytest.param(1, False, id="some live on")]
)
def test_deaths_are_awaited(deaths: int, seen: bool) -> None:
    """A rotation without overlap is told only once all tickets that it killed were found dead."""
    step = Step(10, "kills", "look", CONSISTENT, orders=(Order(0, "k"),), deaths=2)
    before, after = sight(CONSISTENT, breaks=5), sight(CONSISTENT, breaks=5 + deaths)
    theatre = Theatre({0: sight(CONSISTENT), 5: before, 13: after})

    assert play((FIRST, step), theatre.stage(), pace_of(1)) is seen
    assert any("died within their life 7 times" in line for line in theatre.told) is seen


def test_pace() -> None:
    """Orders come at their time, with their pauses, and the story has its length."""
    theatre = Theatre({0: sight(CONSISTENT), 16: sight(SPLIT, "c:1")})
    play((FIRST, SECOND), theatre.stage(), pace_of(1))

    assert [at for at, _ in theatre.obeyed] == [10, 14]
    assert theatre.now == LENGTH


@pytest.mark.parametrize("seconds", [pytest.param(0.1, id="in haste"), pytest.param(500, id="at leisure")])
def test_pages_turned_by_hand(seconds: float) -> None:
    """A scene begins when its page is turned, be that early or late, and the story ends with the last one."""
    theatre = Theatre({0: sight(CONSISTENT), seconds: sight(SPLIT, "c:1")})
    turned = []

    def turn_page() -> None:
        theatre.now += seconds
        turned.append(theatre.now)

    assert play((FIRST, SECOND), theatre.stage(turn_page), pace_of(1))
    assert [at for at, _ in theatre.obeyed] == pytest.approx([turned[0], turned[0] + 4])
    assert theatre.now == turned[1]


def test_the_last_scene_stays() -> None:
    """However late the last scene is seen, there is time to look at it."""
    theatre = Theatre({0: sight(CONSISTENT), 30: sight(SPLIT, "c:1")})
    pace = pace_of(20)
    play((FIRST, SECOND), theatre.stage(), pace)

    assert theatre.now >= 30 + 2 * pace.interval


def test_a_change_waits_for_the_one_before() -> None:
    """However fast the story is told, a new rotation does not begin before the exporter takes the last for over."""
    step = Step(11, "again", "look", CONSISTENT, orders=(Order(0, "l"),), settled=True)
    theatre = Theatre({0: sight(CONSISTENT), 0.2: sight(SPLIT, "c:1"), 3: sight(CONSISTENT)})
    pace = pace_of(100)
    play((FIRST, SECOND, step), theatre.stage(), pace)

    first, second, third = (at for at, _ in theatre.obeyed)
    assert third - second >= pace.settling
    assert first <= second


def test_the_story_settles_in_its_own_time() -> None:
    """At its own speed the story needs no extra wait between its rotations."""
    pace = pace_of(1)
    for before, step in itertools.pairwise(STORY):
        if step.settled:
            last = before.at + before.pause * (len(before.orders) - 1)
            assert step.at - last >= pace.settling
