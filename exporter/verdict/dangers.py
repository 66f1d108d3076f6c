"""Signs of danger in a backend's tickets, and whether they still stand."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from exporter.model.observation import TlsFacts
from exporter.model.verdicts import BackendState, Danger, Weakness
from exporter.verdict.weakness import weakness_of

_LONGEST_LIFETIME = 604_800  # seconds, RFC 8446 section 4.6.1
_NAME_BYTES = 16
_WORST_FIRST = (Weakness.ZERO_KEY, Weakness.GUESSABLE_KEY, Weakness.ZERO_NAME)


@dataclass(frozen=True, slots=True)
class Signs:
    """What a backend's tickets showed.

    Attributes:
        weakness: the worst of the key in use.
        weak_name: where that key's name would stand in its tickets.
        lifetime: the last hint in seconds.
        early_data: 0-RTT was offered with the last tickets.
    """

    weakness: Weakness | None = None
    weak_name: bytes = field(default=b"", repr=False)
    lifetime: int = 0
    early_data: bool = False


def inspect(signs: Signs, connections: Sequence[TlsFacts]) -> Signs:
    """Add one round's tickets, one of each key: those of a key are all weak or none is.

    The lifetime is that of a full handshake, since a resumed one may have inherited what is left of another's.
    """
    tickets = [ticket for tls in connections for ticket in tls.tickets]
    for ticket in {ticket.identity[:_NAME_BYTES]: ticket for ticket in tickets}.values():
        found = weakness_of(ticket)
        if found is not None and (signs.weakness is None or _rank(found) <= _rank(signs.weakness)):
            signs = replace(signs, weakness=found, weak_name=ticket.identity[:_NAME_BYTES])
    full = [ticket for tls in connections if not tls.resumed for ticket in tls.tickets]
    lifetime = full[-1].lifetime if full else signs.lifetime
    early_data = any(ticket.max_early_data for ticket in full) if full else signs.early_data
    if (lifetime, early_data) == (signs.lifetime, signs.early_data):
        return signs
    return replace(signs, lifetime=lifetime, early_data=early_data)


def _rank(weakness: Weakness) -> int:
    return _WORST_FIRST.index(weakness)


def clear(signs: Signs, name: bytes | None) -> Signs:
    """Lift the weakness of a key that is no more in use, since the backend has changed to the one with this name.

    Rare weak tickets are as bad as many, so nothing else lifts it.
    """
    return signs if name is not None and name == signs.weak_name else replace(signs, weakness=None, weak_name=b"")


def dangers_of(signs: Signs, state: BackendState) -> tuple[Danger, ...]:
    """List the signs that stand."""
    standing = {
        Danger.WEAK_KEY: signs.weakness is not None,
        Danger.EARLY_DATA: signs.early_data,
        Danger.LONG_LIFETIME: signs.lifetime > _LONGEST_LIFETIME,
        Danger.KILLS: state is BackendState.KILLS,
    }
    return tuple(danger for danger, stands in standing.items() if stands)
