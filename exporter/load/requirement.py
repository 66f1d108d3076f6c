"""Pass lines such as `resumed>=8000` or `p99<=50ms`, and whether they are met."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from exporter.load.capacity import Capacity
from exporter.load.step import Step
from exporter.model.observation import Mode

_LINE = re.compile(
    r"\s*(?P<name>[a-z0-9]+)\s*(?P<sign>>=|<=)\s*(?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(?P<unit>ms|s|)\s*"
)
_RATES: Mapping[str, Mode] = MappingProxyType({"full": Mode.FULL, "resumed": Mode.RESUMED})
_TIMES: Mapping[str, Callable[[Step], float | None]] = MappingProxyType(
    {
        "p50": lambda step: step.handshake.p50,
        "p90": lambda step: step.handshake.p90,
        "p99": lambda step: step.handshake.p99,
    }
)
ALLOWED = "full>=N, resumed>=N, p50<=Nms, p90<=Nms or p99<=Nms"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One pass line.

    Attributes:
        name: `full` and `resumed` want at least `bound` handshakes a second, the quantiles at most `bound` seconds.
    """

    text: str
    name: str
    bound: float

    @property
    def mode(self) -> Mode | None:
        """The mode that must be measured for it; None where any will do."""
        return _RATES.get(self.name)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a pass line.

    Attributes:
        found: handshakes a second, or seconds; None where nothing was sustained, which meets no line.
        generator_bound: that the server may do better than was found, since the generator was the limit.
        highest_tried: that it may do more handshakes a second than were found, since no higher rate was tried.
    """

    requirement: Requirement
    found: float | None
    met: bool
    generator_bound: bool
    highest_tried: bool


def parse_requirement(text: str) -> Requirement:
    """Read a pass line.

    Raises:
        ValueError: it is none.
    """
    match = _LINE.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is no pass line; allowed: {ALLOWED}')
    name, sign, unit = match["name"], match["sign"], match["unit"]
    number = float(match["number"])
    rate = name in _RATES and sign == ">=" and not unit
    time = name in _TIMES and sign == "<=" and unit
    if not (rate or time) or number <= 0:
        raise ValueError(f'"{text}" is no pass line; allowed: {ALLOWED}')
    return Requirement(text.strip(), name, number / 1000 if unit == "ms" else number)


def judge(requirement: Requirement, capacities: Sequence[Capacity]) -> Outcome:
    """Compare a pass line with what was found; a quantile is the worst of all modes, at the rate of their ceilings."""
    if requirement.mode is not None:
        asked = next((each for each in capacities if each.mode is requirement.mode), None)
        found = None if asked is None else asked.rate
        met = found is not None and found >= requirement.bound
        bound, tried = (asked.generator_bound, asked.highest_tried) if asked is not None else (False, False)
        return Outcome(requirement, found, met, bound, tried)
    times = [_TIMES[requirement.name](each.best) if each.best else None for each in capacities]
    seen = [time for time in times if time is not None]
    worst = max(seen) if seen and len(seen) == len(times) else None
    met = worst is not None and worst <= requirement.bound
    return Outcome(requirement, worst, met, any(each.generator_bound for each in capacities), highest_tried=False)
