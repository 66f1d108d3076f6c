"""Plays the story: gives the orders in time, and tells what is seen of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from exporter.demo.fleet import Order
from exporter.demo.story import LENGTH, Pace, Sight, Step

_PATIENCE = 30.0
"""Seconds in which a step must be seen, whatever the speed."""
_GLANCE = 0.25  # seconds between two looks
_LAST = 2  # rounds for which the last scene stays at least
MARGIN = "         "


@dataclass(frozen=True, slots=True)
class Stage:
    """What playing needs from outside.

    Attributes:
        addresses: of the backends, as the exporter spells them.
        look: what the exporter says now.
        clock: seconds that never go back.
        tell: prints a line.
        turn_page: returns when the story may go on; None where it goes on by its own clock.
    """

    addresses: tuple[str, ...]
    obey: Callable[[Order], None]
    look: Callable[[], Sight]
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    tell: Callable[[str], None]
    turn_page: Callable[[], None] | None = None


def play(steps: Sequence[Step], stage: Stage, pace: Pace) -> bool:
    """Play all steps and return whether each was seen; one that was not ends the story.

    No step is left before it was seen, whatever the pace.
    """
    speed = pace.speed
    began = ordered = stage.clock()
    lost = 0.0  # seconds by which waiting for a sight, or for the page to be turned, has moved what follows
    for step in steps:
        if stage.turn_page and step is not steps[0]:
            stage.turn_page()
            lost = stage.clock() - began - step.at / speed
        due = began + lost + step.at / speed
        if step.settled and (settled := ordered + pace.settling) > due:
            lost += settled - due
            due = settled
        stage.sleep(max(0.0, due - stage.clock()))
        stage.tell(f"\n{_minutes(stage.clock() - began)}  {step.happens}")
        deaths = stage.look().breaks if step.deaths else 0
        for number, order in enumerate(step.orders):
            if number and step.pause:
                stage.sleep(step.pause / speed)
            stage.obey(order)
            ordered = stage.clock()
        stage.tell(f"{MARGIN}Look: {step.look}")
        asked = stage.clock()
        sight = _await(step, stage, deaths)
        if sight is None or (step.whole and sight.breaks):
            stage.tell(f"{MARGIN}This was not seen. The exporter says: {_words(stage.look())}")
            return False
        lost += max(0.0, stage.clock() - asked - _room(step, steps, speed))
        stage.tell(f"{MARGIN}Seen: {_words(sight)}")
    if stage.turn_page:
        stage.turn_page()
    else:
        stage.sleep(max(_LAST * pace.interval, began + lost + LENGTH / speed - stage.clock()))
    return True


def _room(step: Step, steps: Sequence[Step], speed: float) -> float:
    """Return how long a step may take before the next one has to wait for it."""
    following = next((each.at for each in steps if each.at > step.at), LENGTH)
    pauses = step.pause * max(0, len(step.orders) - 1)
    return max(0.0, following - step.at - pauses) / speed


def _await(step: Step, stage: Stage, deaths: int) -> Sight | None:
    deadline = stage.clock() + _PATIENCE
    while stage.clock() < deadline:
        if (sight := stage.look()).shows(step, stage.addresses, deaths):
            return sight
        stage.sleep(_GLANCE)
    return None


def _words(sight: Sight) -> str:
    return "; ".join(_facts(sight))


def _facts(sight: Sight) -> Iterator[str]:
    for version, state in sorted(sight.states.items(), reverse=True):
        yield f"TLS {version} {state.replace('_', ' ')}"
    if not sight.states:
        yield "nothing yet"
    if sight.odd:
        yield f"against the others: {', '.join(sorted(sight.odd))}"
    times = "once" if sight.breaks == 1 else f"{sight.breaks} times"
    yield f"tickets died within their life {times}" if sight.breaks else "no ticket died within its life"


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60:>3}:{int(seconds) % 60:02d}"
