"""What is kept of one target from round to round: sessions to offer, and the verdict's own history."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from exporter.model.connections import Staple
from exporter.model.observation import Handshake
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import RoundResult
from exporter.probe.canaries import Canaries
from exporter.probe.idling import IdleWatch
from exporter.probe.kept import Kept
from exporter.verdict.hints import speaks
from exporter.verdict.history import EMPTY, History

Home = tuple[Address, TlsVersion]

_RETRY_ROUNDS = 10  # how often a version that a backend does not speak is tried again
_MOST_DEPARTED = 64


@dataclass(slots=True)
class Memory:
    """One target's memory; only the round that is under way changes it.

    Attributes:
        rounds: how many there were.
        visits: of those, how many each present backend had a part in; in a sample it is not all of them.
        history: the verdict's.
        unreached: backends that the last round did not reach; they come first in the next.
        failing: backends with which it completed no handshake; a full one is tried there before anything is offered.
        position: where on the ring the next sample begins.
        staples: what each backend stapled, and when it was asked, by the monotonic clock.
        unstapled: when each backend was asked last in vain, by the same clock.
        watch: holds connections to see how long they may be idle; None where that is not wanted.
    """

    rounds: int = 0
    visits: dict[Address, int] = field(default_factory=dict)
    history: History = EMPTY
    unreached: tuple[Address, ...] = ()
    failing: frozenset[Address] = frozenset()
    position: int = 0
    staples: dict[Address, tuple[float, Staple]] = field(default_factory=dict)
    unstapled: dict[Address, float] = field(default_factory=dict)
    watch: IdleWatch | None = None
    _kept: dict[Home, Kept] = field(default_factory=dict)
    _canaries: dict[Home, Canaries] = field(default_factory=dict)
    _departed: dict[Home, Kept] = field(default_factory=dict)
    _silent_since: dict[Home, int] = field(default_factory=dict)

    def take_window(self, ring: Sequence[Address], sample: int) -> tuple[Address, ...]:
        """Return the backends that a round takes, and move on: the next sample begins with the last of this one.

        So the offers round the ring leave no gap between samples.
        """
        if not 0 < sample < len(ring):
            return tuple(ring)
        begin = self.position % len(ring)
        self.position = begin + max(1, sample - 1)
        return (*ring[begin : begin + sample], *ring[: max(0, begin + sample - len(ring))])

    def kept(self, home: Home, now: float) -> Kept | None:
        """Return the session that the backend issued in an earlier round, if it is within its life."""
        kept = self._kept.get(home)
        return kept if kept is not None and kept.lives(now) else None

    def keep(self, home: Home, fresh: Sequence[Kept], *, plant: bool = True) -> None:
        """Keep of a full handshake's sessions the newest of those that were offered least, and plant canaries.

        Sessions from resumed handshakes are not kept: some servers let them inherit what is left of the first's life.

        Args:
            plant: whether canaries are wanted.
        """
        best = min(reversed(fresh), key=lambda kept: kept.offered, default=None)
        if best is not None:
            self._kept[home] = best
            if plant:
                self._canaries.setdefault(home, Canaries()).plant(best)

    def newest(self, version: TlsVersion, now: float) -> Kept | None:
        """Return the session that was got last from any backend, if one is within its life."""
        living = (kept for home, kept in self._kept.items() if home[1] is version and kept.lives(now))
        return max(living, key=lambda kept: kept.received, default=None)

    def take_canary(self, home: Home, now: float) -> Kept | None:
        """Take out a ticket of the backend that has come to an age at which it is offered once more."""
        canaries = self._canaries.get(home)
        return None if canaries is None else canaries.take_due(now)

    def spare(self, home: Home, now: float) -> Kept | None:
        """Return a copy of a ticket that waits for its age, to be offered out of turn."""
        canaries = self._canaries.get(home)
        living = None if canaries is None else next(iter(canaries.living(now)), None)
        return None if living is None else living.copy()

    def departed(self, version: TlsVersion, now: float) -> Iterator[Kept]:
        """Yield the tickets of backends that are gone, while clients may still hold such."""
        return (kept for home, kept in list(self._departed.items()) if home[1] is version and kept.lives(now))

    def bury(self, kept: Kept, version: TlsVersion) -> None:
        """Drop a departed backend's ticket that nobody accepts any more."""
        self._departed.pop((kept.issuer, version), None)

    def forget_sessions(self) -> None:
        """Drop all that could be offered: it belongs to TLS settings that are out of use."""
        for store in (self._kept, self._canaries, self._departed):
            store.clear()

    def skips(self, home: Home) -> bool:
        """Say whether a version is left out this time, since the backend was found not to speak it."""
        found = self._silent_since.get(home)
        return found is not None and (self.rounds - found) % _RETRY_ROUNDS != 0

    def newest_version(self, backend: Address, versions: Sequence[TlsVersion]) -> TlsVersion:
        """Return the newest version that the backend is not known to be without."""
        return max((version for version in versions if not self.skips((backend, version))), default=versions[-1])

    def end_round(self, result: RoundResult, history: History, now: float) -> None:
        """Take over what a round taught, and see off the backends that are gone."""
        for home in product(result.backends, result.target.versions):
            spoken = speaks(history, *home)
            if spoken:
                self._silent_since.pop(home, None)
            elif spoken is False:
                self._silent_since.setdefault(home, self.rounds)
        for home in [home for home in self._kept if home[0] not in result.backends]:
            self._see_off(home, now)
        self._departed = {
            home: kept for home, kept in self._departed.items() if kept.lives(now) and home[0] not in result.backends
        }
        for store in (self._canaries, self._silent_since):
            for home in [home for home in store if home[0] not in result.backends]:
                del store[home]
        for asked in (self.staples, self.unstapled):
            for backend in [backend for backend in asked if backend not in result.backends]:
                del asked[backend]
        self.history = history
        self.unreached = result.unreached
        shaken = {seen.backend for seen in result.observations if isinstance(seen.outcome, Handshake)}
        self.failing = frozenset(result.backends) - shaken
        self.rounds += 1
        seen = {seen.backend for seen in result.observations}
        self.visits = {at: self.visits.get(at, 0) + (at in seen) for at in result.backends}

    def _see_off(self, home: Home, now: float) -> None:
        kept = self._kept.pop(home)
        if kept.lives(now):
            self._departed[home] = kept
        for oldest in list(islice(self._departed, max(0, len(self._departed) - _MOST_DEPARTED))):
            del self._departed[oldest]
