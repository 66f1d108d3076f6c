"""Tickets that are kept back on purpose, to learn how long they really live."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from exporter.probe.kept import Kept

_SHORTEST = 60.0
_SHARES = (0.25, 0.5, 0.9)
_WITHOUT_HINT = (60.0, 300.0, 1800.0, 7200.0)  # RFC 5077 section 3.3: a hint of 0 says nothing
_LONGEST = 604_800.0  # RFC 8446 section 4.6.1: a client must not keep a ticket for longer


def ages(hint: int) -> tuple[float, ...]:
    """Return the ages in seconds at which tickets with this lifetime hint are offered once more, the youngest first."""
    if hint == 0:
        return _WITHOUT_HINT
    life = min(float(hint), _LONGEST)
    due = {_SHORTEST, *(share * life for share in _SHARES)}
    return tuple(sorted(age for age in due if _SHORTEST <= age < life))


@dataclass(slots=True)
class Canaries:
    """The tickets of one backend and version that wait for their age, one for each age."""

    _waiting: dict[float, Kept] = field(default_factory=dict)

    def plant(self, kept: Kept) -> None:
        """Keep a ticket back for each age at which none is waiting."""
        due = ages(kept.hint)
        self._waiting = {age: old for age, old in self._waiting.items() if age in due}
        for age in due:
            self._waiting.setdefault(age, kept.copy())

    def take_due(self, now: float) -> Kept | None:
        """Take out the ticket that has come to the oldest age; those that came beyond their life are dropped.

        Args:
            now: seconds, by the clock that tells when tickets were received.
        """
        for age in sorted(self._waiting, reverse=True):
            kept = self._waiting[age]
            if kept.lives(now) and now - kept.received >= age:
                return self._waiting.pop(age)
            if not kept.lives(now):
                del self._waiting[age]
        return None

    def living(self, now: float) -> Iterable[Kept]:
        """Yield what still waits and is within its life."""
        return (kept for kept in self._waiting.values() if kept.lives(now))
