"""What is kept of one target from round to round: sessions to offer, and the verdict's own history."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import RoundResult
from exporter.verdict.history import EMPTY, History
from exporter.wire.tls import Session

Home = tuple[Address, TlsVersion]

_RETRY_ROUNDS = 10  # how often a version that a backend does not speak is tried again


@dataclass(slots=True)
class Kept:
    """A session that can be offered.

    Attributes:
        received: by the monotonic clock, in seconds.
        offered: how often it was offered; some servers accept each but once.
    """

    session: Session
    issuer: Address
    received: float
    offered: int = 0


@dataclass(slots=True)
class Memory:
    """One target's memory; only the round that is under way changes it.

    Attributes:
        rounds: how many there were.
        history: the verdict's.
        unreached: backends that the last round did not reach; they come first in the next.
    """

    rounds: int = 0
    history: History = EMPTY
    unreached: tuple[Address, ...] = ()
    _kept: dict[Home, Kept] = field(default_factory=dict)
    _silent_since: dict[Home, int] = field(default_factory=dict)

    def kept(self, home: Home) -> Kept | None:
        """Return the session that the backend issued in an earlier round."""
        return self._kept.get(home)

    def keep(self, home: Home, sessions: Iterable[Kept]) -> None:
        """Keep the session that is offered first in the next round: the newest of those that were offered least."""
        best = min(reversed(list(sessions)), key=lambda kept: kept.offered, default=None)
        if best is not None:
            self._kept[home] = best

    def skips(self, home: Home) -> bool:
        """Say whether a version is left out this time, since the backend was found not to speak it."""
        found = self._silent_since.get(home)
        return found is not None and (self.rounds - found) % _RETRY_ROUNDS != 0

    def end_round(self, result: RoundResult, history: History) -> None:
        """Take over what a round taught, and drop what belongs to backends that are gone."""
        for home, speaks in result.supported.items():
            if speaks:
                self._silent_since.pop(home, None)
            else:
                self._silent_since.setdefault(home, self.rounds)
        for store in (self._kept, self._silent_since):
            for home in [home for home in store if home[0] not in result.backends]:
                del store[home]
        self.history = history
        self.unreached = result.unreached
        self.rounds += 1
