"""The capacity of one server: what it sustains, full and resumed, by a closed or an open loop."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from exporter.load.orders import Loop, Order, Tally
from exporter.load.search import Rates
from exporter.load.step import Step, Strain, fails, strain, sum_up
from exporter.model.observation import Mode

CarryOut = Callable[[Order], Sequence[Tally]]
"""Has an order carried out, and returns what each worker counted."""

Tell = Callable[[Step, Strain | None], None]
"""Is told of each step as soon as it is done."""

_WARM_UP_SHARE = 0.2
_MOST_WARM_UP = 1.0
_REST_RATE, _REST_SECONDS = 10.0, 1.0
_TRIES = 2
"""One hiccup of a machine's is not the end of what its server sustains."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What all steps have in common.

    Attributes:
        seconds: for which each step is measured.
        most_rate: connections a second that are never exceeded.
        background: kept-alive requests a second beside them.
        p99_limit: seconds; None leaves it to what was seen at lower rates.
    """

    seconds: float
    most_rate: float
    background: float = 0.0
    p99_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Capacity:
    """What was found in one mode.

    Attributes:
        steps: all that were run, and why a rate was not sustained.
        best: the one whose rate is the ceiling; None where no rate was sustained.
    """

    mode: Mode
    steps: tuple[tuple[Step, Strain | None], ...]
    best: Step | None

    @property
    def rate(self) -> float | None:
        """Handshakes a second; None where no rate was sustained."""
        if self.best is None or self.best.loop is Loop.CLOSED:
            return None if self.best is None else self.best.done
        # What was done in a time holds some that were due before it, which says nothing of what is sustained.
        return min(self.best.done, self.best.offered)

    @property
    def resumption_held(self) -> bool | None:
        """Whether the rate is one of resumed handshakes, as meant; None where that was not meant, or none was found."""
        return None if self.best is None or self.mode is not Mode.RESUMED else self.best.resumption_held

    @property
    def highest_tried(self) -> bool:
        """Whether the server may well do more than was found, since no rate above it was tried."""
        if self.best is None or self.best.loop is Loop.CLOSED:
            return False
        # What was not sustained was tried twice, and lies above.
        return not any(one and other for (_, one), (_, other) in pairwise(self.steps))

    @property
    def generator_bound(self) -> bool:
        """Whether the server may well do more than was found, since it was the generator that could not."""
        if self.best is not None and self.best.generator_bound:
            return True
        # Both tries of a rate: one hiccup at a rate that was sustained then says nothing.
        return any(one is other is Strain.GENERATOR for (_, one), (_, other) in pairwise(self.steps))


def measure_closed(carry_out: CarryOut, mode: Mode, clients: int, plan: Plan, tell: Tell) -> Capacity:
    """Keep so many clients busy, each with one connection after the other; what fails too often sustains nothing."""
    order = _order(mode, plan, plan.most_rate, clients)
    step = sum_up(order, carry_out(order))
    why = Strain.ERRORS if fails(step) else None
    tell(step, why)
    return Capacity(mode, ((step, why),), step if step.completed and why is None else None)


def measure_open(carry_out: CarryOut, mode: Mode, rates: Rates, plan: Plan, tell: Tell) -> Capacity:
    """Raise the rate by the clock until the p99, errors or lateness move."""
    steps: list[tuple[Step, Strain | None]] = []
    rest = _rest(carry_out, mode, plan) if plan.p99_limit is None else None
    while (rate := rates.next_rate()) is not None:
        for _ in range(_TRIES):
            order = _order(mode, plan, rate)
            step = sum_up(order, carry_out(order))
            why = strain(step, _calm(steps, rest), plan.p99_limit)
            steps.append((step, why))
            tell(step, why)
            if why is None:
                break
        rates.note(sustained=why is None)
    sustained = [step for step, why in steps if why is None]
    return Capacity(mode, tuple(steps), max(sustained, key=lambda step: step.offered, default=None))


def _rest(carry_out: CarryOut, mode: Mode, plan: Plan) -> float | None:
    """Return how long a handshake takes where next to nothing is asked, in seconds: the path alone may take long."""
    order = _order(mode, replace(plan, seconds=_REST_SECONDS, background=0.0), min(_REST_RATE, plan.most_rate))
    return sum_up(order, carry_out(order)).handshake.p50


def _calm(steps: Sequence[tuple[Step, Strain | None]], rest: float | None) -> float | None:
    """Return the least p99 of the steps that were sustained, in seconds; at first, how long one took at rest."""
    return min((step.handshake.p99 for step, why in steps if why is None and step.handshake.p99), default=rest)


def _order(mode: Mode, plan: Plan, rate: float, clients: int = 0) -> Order:
    warm_up = min(_WARM_UP_SHARE * plan.seconds, _MOST_WARM_UP)
    return Order(
        mode=mode,
        begin=0.0,
        seconds=plan.seconds,
        warm_up=warm_up,
        clients=clients,
        rate=rate,
        background=plan.background,
    )
