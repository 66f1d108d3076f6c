"""What becomes of a running set of targets when another one takes its place: pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from exporter.model.target import Target

_GOES_ON = frozenset(
    {
        "backends",
        "versions",
        "http",
        "probe",
        "expect",
        "interval",
        "timeout",
        "labels",
        "share_with",
    }
)
"""Fields that may change while counters, sessions and history stay.

All others, `tls` apart, decide what is spoken to, so with another value it is another target: its sessions must not be
offered, since they are of another server, and what was seen of the former proves nothing of the latter. Backends come
and go in the name service, too, and those that left are seen off there in the same way.
"""


class Continuity(Enum):
    """How a target goes on under new settings."""

    SAME = 0
    """Nothing has changed."""
    ALTERED = 1
    """With its counters, sessions and history."""
    RENEWED = 2
    """With its counters and history, but its sessions belong to another TLS context."""
    ANEW = 3
    """Only its name is the same."""


@dataclass(frozen=True, slots=True)
class Changes:
    """From one set of targets to another.

    Attributes:
        begun: new ones.
        ended: those that are gone.
        altered: those that go on, as they are now.
        renewed: those of them whose sessions are worth nothing any more.

    A target that begins anew is among those that ended and those that have begun.
    """

    begun: tuple[Target, ...] = ()
    ended: tuple[Target, ...] = ()
    altered: tuple[Target, ...] = ()
    renewed: tuple[Target, ...] = ()


def compare(before: Target, after: Target) -> Continuity:
    """Say how a target goes on."""
    if before == after:
        return Continuity.SAME
    changed = {name for name in Target.__slots__ if getattr(before, name) != getattr(after, name)}
    if not changed - _GOES_ON:
        return Continuity.ALTERED
    # ALPN may change what a backend shows, and one that was not asked again yet would seem to differ from the others.
    if changed - _GOES_ON == {"tls"} and before.tls.alpn == after.tls.alpn:
        return Continuity.RENEWED
    return Continuity.ANEW


def find_changes(before: Mapping[str, Target], after: Sequence[Target]) -> Changes:
    """Return what has to be done.

    Args:
        before: the targets that are probed, by their names.
        after: those that are to be probed, no two of one name.
    """
    wanted = {target.name: target for target in after}
    kinds = {name: compare(before[name], target) for name, target in wanted.items() if name in before}
    anew = {name for name, kind in kinds.items() if kind is Continuity.ANEW}
    return Changes(
        begun=tuple(target for name, target in wanted.items() if name not in before or name in anew),
        ended=tuple(target for name, target in before.items() if name not in wanted or name in anew),
        altered=tuple(wanted[name] for name, kind in kinds.items() if kind in {Continuity.ALTERED, Continuity.RENEWED}),
        renewed=tuple(wanted[name] for name, kind in kinds.items() if kind is Continuity.RENEWED),
    )
