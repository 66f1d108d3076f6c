"""Whether the fleet is amid a change of its ticket key, or is parted for good."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from exporter.model.target import Address
from exporter.model.verdicts import TargetState

_PARTED = frozenset({TargetState.SPLIT, TargetState.ONE_WAY})
_WHOLE = frozenset({TargetState.CONSISTENT, TargetState.STATEFUL, TargetState.NO_TICKETS})


@dataclass(frozen=True, slots=True)
class Rotation:
    """A change that goes through a fleet.

    Attributes:
        last: Unix time in seconds at which one more backend turned to another key; None where none has.
        turned: those that have, each of which prolongs a change but once, so that backends which change their
            keys all the time do not make a split pass for a rotation.
        parted: the backends were seen to differ while no change explained it, and not to agree since.
    """

    last: float | None = None
    turned: frozenset[Address] = frozenset()
    parted: bool = False

    def excuses(self, now: float, grace: float) -> bool:
        """Tell whether backends may differ at this time."""
        return not self.parted and self.last is not None and now - self.last <= grace


def turn(rotation: Rotation, turning: Collection[Address], now: float) -> Rotation:
    """Note which backends seem to have turned to another key in a round."""
    new = frozenset(turning) - rotation.turned
    return replace(rotation, last=now, turned=rotation.turned | new) if new else rotation


def conclude(
    rotation: Rotation, state: TargetState, present: Collection[Address], *, now: float, grace: float
) -> Rotation:
    """Note how the fleet stands after a round.

    That all agree may be since some could not be asked, so a change is over only when its time is, too. One that went
    through every backend may be followed by another at once, as a rollback is, and that one has all of its own time.
    """
    whole = state in _WHOLE
    if whole and not rotation.excuses(now, grace):
        return Rotation()
    turned = rotation.turned.intersection(present)
    if whole and turned.issuperset(present):
        turned = frozenset()
    return replace(rotation, turned=turned, parted=not whole and (rotation.parted or state in _PARTED))
