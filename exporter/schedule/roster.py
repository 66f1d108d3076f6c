"""Who is to be probed: what each source of targets named last, put together.

A source is the configuration, or anything that finds targets while we run. Each hands over all of its targets, as often
as it likes; handing over the same ones again changes nothing. All calls are made on the event loop.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exporter.model.target import Target

CONFIGURATION = "configuration"
"""The source that comes before all others."""

Choose = Callable[[Sequence[Target]], Sequence[Target]]
"""Of all targets of one source, those that are ours to probe."""


@dataclass(frozen=True, slots=True)
class Clash:
    """A name that was given twice.

    Attributes:
        source: whose target is left out.
        holder: the source whose target of that name is probed; the same one if it gave the name twice.
    """

    name: str
    source: str
    holder: str


@dataclass(frozen=True, slots=True)
class Union:
    """All sources together.

    Attributes:
        total: how many targets there are, those of other shards too.
        chosen: those that are ours.
        clashes: names that were given twice.
    """

    total: int = 0
    chosen: tuple[Target, ...] = ()
    clashes: tuple[Clash, ...] = ()


class Roster:
    """The targets of all sources; a name that several give belongs to the configuration, and then to the first by name.

    It must not hang on which source was heard first: shards hear them in different orders, and would part other lists.

    Args:
        apply: takes all that are to be probed, each time that they may have changed.
        choose: leaves out what others probe.
    """

    def __init__(self, apply: Callable[[Union], None], choose: Choose = tuple) -> None:
        self._apply = apply
        self._choose = choose
        self._handed: dict[str, tuple[Target, ...] | None] = {CONFIGURATION: None}

    def hand_over(self, source: str, targets: Sequence[Target]) -> None:
        """Take all that a source names now, in the place of what it named before."""
        given = tuple(targets)
        if self._handed.get(source) != given:
            self._handed[source] = given
            self._apply(self._unite())

    def withdraw(self, source: str) -> None:
        """Forget a source that is no more, with its targets."""
        if self._handed.pop(source, ()):
            self._apply(self._unite())

    def _unite(self) -> Union:
        holders: dict[str, str] = {}
        clashes: list[Clash] = []
        chosen: list[Target] = []
        for source in sorted(self._handed, key=lambda source: (source != CONFIGURATION, source)):
            kept: dict[str, Target] = {}
            for target in self._handed[source] or ():
                holder = holders.setdefault(target.name, source)
                if holder == source and kept.setdefault(target.name, target) == target:
                    continue  # the first of that name, or the very same once more
                clashes.append(Clash(target.name, source, holder))
            # Each source by itself: one that is not heard must not change who probes the targets of another.
            chosen += self._choose(tuple(kept.values()))
        return Union(len(holders), tuple(chosen), tuple(clashes))
