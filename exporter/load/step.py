"""What one stretch of load came to, over all workers, and whether the server kept up."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from exporter.load.orders import Loop, Order, Tally, unpack_times
from exporter.model.observation import Mode

BUSY = 0.85
"""Share of the time that the workers could have had, above which they measured themselves."""
RESUMED_SHARE = 0.99
"""Fewer resumed of those that offered a session are no figure for resumed handshakes."""
_MOST_FAILED = 0.01
_LEAST_DONE = 0.95
_SLOWER = 5.0
_SLOW_SECONDS = 0.05
"""A p99 below this is never called slow, however calm it was before."""
_LATE_SECONDS = 0.02


class Strain(StrEnum):
    """Why a rate is not sustained."""

    ERRORS = "errors"
    """More than 1 % of the connections failed."""
    LATENCY = "latency"
    """The p99 of the handshake has left where it was at lower rates."""
    BACKLOG = "backlog"
    """Fewer were done than were due."""
    GENERATOR = "generator"
    """It was we who began too late, or could not begin."""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Of times in seconds; all None where there were none."""

    p50: float | None = None
    p90: float | None = None
    p99: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stretch of load.

    Attributes:
        seconds: for which it was measured.
        offered: connections a second that were due.
        done: connections a second that were done, in the `resumed` mode those alone that were resumed.
        completed, resumed: how many connections were done in all, and how many of them were resumed.
        handshake, first_byte: from when a connection was due; in the closed loop that is its beginning.
        lateness: of our own, from when a connection was due to its beginning.
        failures: how often, by stage and reason.
        refusal: from a connection's beginning to the server's refusal.
        busy: our own processor time over what the workers could have had; 1 is all of it.
        squeezed: the share of the time for which they were ready to run and others ran.
        requests: kept-alive requests a second that were answered, and how long they took; None without any.
    """

    mode: Mode
    loop: Loop
    seconds: float
    offered: float
    done: float
    completed: int
    resumed: int
    handshake: Quantiles
    first_byte: Quantiles
    lateness: Quantiles
    failed: int
    due: int
    unstarted: int
    failures: dict[str, int]
    refusal: Quantiles
    busy: float
    squeezed: float
    requests: "RequestStep | None" = None

    @property
    def generator_bound(self) -> bool:
        """Whether the generator was measured rather than the server."""
        return self.busy > BUSY or self.unstarted > 0 or (self.lateness.p99 or 0.0) > _LATE_SECONDS

    @property
    def resumption_held(self) -> bool:
        """Whether what offered a session was resumed, as far as that was meant."""
        return self.mode is not Mode.RESUMED or self.resumed >= RESUMED_SHARE * self.completed


@dataclass(frozen=True, slots=True)
class RequestStep:
    """The kept-alive requests beside the handshakes; `times` from when each was due to its whole answer."""

    offered: float
    done: float
    times: Quantiles
    failures: dict[str, int]


def sum_up(order: Order, tallies: Sequence[Tally]) -> Step:
    """Join what the workers counted."""
    completed, resumed = sum(tally.done for tally in tallies), sum(tally.resumed for tally in tallies)
    due = sum(tally.due for tally in tallies)
    unstarted = sum(tally.unstarted for tally in tallies)
    failures = _join(tally.failures for tally in tallies)
    return Step(
        mode=order.mode,
        loop=order.loop,
        seconds=order.seconds,
        offered=due / order.seconds,
        done=(resumed if order.mode is Mode.RESUMED else completed) / order.seconds,
        completed=completed,
        resumed=resumed,
        handshake=quantiles(tally.handshakes for tally in tallies),
        first_byte=quantiles(tally.first_bytes for tally in tallies),
        lateness=quantiles(tally.lateness for tally in tallies) if order.loop is Loop.OPEN else Quantiles(),
        failed=sum(failures.values()),
        due=due,
        unstarted=unstarted,
        failures=failures,
        refusal=quantiles(tally.refusals for tally in tallies),
        busy=_busy(tallies),
        squeezed=_share(sum(tally.run_delay for tally in tallies), sum(tally.wall for tally in tallies)),
        requests=_requests(order, tallies) if order.background else None,
    )


def fails(step: Step) -> bool:
    """Tell whether more connections failed than can be let pass."""
    return step.failed > _MOST_FAILED * step.due


def strain(step: Step, calm: float | None, limit: float | None) -> Strain | None:
    """Say why an open loop's rate is not sustained; None where it is.

    Args:
        calm: p99 of the handshake at lower rates, in seconds; None where there was none.
        limit: the p99 that is allowed, in seconds; None allows five times `calm`, and 50 ms at least.
    """
    allowed = limit if limit is not None else max(_SLOW_SECONDS, _SLOWER * (calm or 0.0))
    if fails(step):
        return Strain.ERRORS
    if step.unstarted or (step.lateness.p99 or 0.0) > max(_LATE_SECONDS, 0.5 * allowed):
        return Strain.GENERATOR
    if step.handshake.p99 is None or step.handshake.p99 > allowed:
        return Strain.LATENCY
    # What was due at the very end may still be under way.
    if step.completed < _LEAST_DONE * (step.due - step.offered * step.handshake.p99):
        return Strain.BACKLOG
    return None


def quantiles(sent: Iterable[bytes]) -> Quantiles:
    """Return the quantiles over all workers' times; each is a value that was seen."""
    times = array("d")
    for part in sent:
        times.extend(unpack_times(part))
    if not times:
        return Quantiles()
    ordered = sorted(times)
    p50, p90, p99 = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.9, 0.99))
    return Quantiles(p50, p90, p99)


def _busy(tallies: Sequence[Tally]) -> float:
    """Return the share of the busiest worker: the others wait for nobody, but its connections do."""
    return max((_share(tally.processor, tally.wall - tally.run_delay) for tally in tallies), default=0.0)


def _share(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole > 0 else 0.0


def _join(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    joined: Counter[str] = Counter()
    for each in counts:
        joined.update(each)
    return dict(joined.most_common())


def _requests(order: Order, tallies: Sequence[Tally]) -> RequestStep:
    parts = [tally.requests for tally in tallies]
    return RequestStep(
        offered=sum(part.due for part in parts) / order.seconds,
        done=sum(part.done for part in parts) / order.seconds,
        times=quantiles(part.times for part in parts),
        failures=_join(part.failures for part in parts),
    )
