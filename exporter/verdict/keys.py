"""Names of ticket keys, as far as tickets show them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from exporter.model.observation import Handshake, Observation, Ticket
from exporter.model.target import Address
from exporter.model.verdicts import Mechanism
from exporter.verdict.mechanism import Batch, key_name

_BATCHES_OF_A_ROUND = 8
_KNOWN_KEPT = 256


@dataclass(frozen=True, slots=True)
class Keys:
    """The key names that can be read in a fleet.

    Attributes:
        mechanisms: how each backend's tickets are laid out.
        current: the name of the key with which each backend encrypts; absent where none is visible.
        known: the names that may be believed.
        unread: backends whose newest ticket bears a name that may not be believed yet.
    """

    mechanisms: Mapping[Address, Mechanism] = field(default_factory=dict)
    current: Mapping[Address, bytes] = field(default_factory=dict, repr=False)
    known: frozenset[bytes] = field(default=frozenset(), repr=False)
    unread: frozenset[Address] = frozenset()

    def name(self, issuer: Address, ticket: Ticket | None) -> bytes | None:
        """Read the key's name off a ticket, None where it shows none that may be believed."""
        if ticket is None:
            return None
        name = key_name(self.mechanisms.get(issuer, Mechanism.UNKNOWN), ticket.identity)
        return name if name in self.known else None

    def issued(self, seen: Observation) -> bytes | None:
        """Read which key a connection's tickets are of, None where it brought none that may be believed."""
        tickets = seen.outcome.tls.tickets if isinstance(seen.outcome, Handshake) else ()
        return self.name(seen.backend, tickets[0]) if tickets else None


def read_keys(
    pools: Mapping[Address, tuple[Batch, ...]], mechanisms: Mapping[Address, Mechanism], known: tuple[bytes, ...] = ()
) -> Keys:
    """Read the names of all keys in use.

    A name is believed once two tickets of the fleet bear it: a backend whose software was changed for one that hides
    its names would otherwise show a new key with each ticket.

    Args:
        pools: the last tickets of each backend.
        mechanisms: how they are laid out; also those of backends that have left.
        known: names that were believed before.
    """
    newest = {
        backend: name
        for backend, batches in pools.items()
        if batches and (name := key_name(mechanisms[backend], batches[-1].specimens[0].head)) is not None
    }
    believed = frozenset(known)
    shown = {
        name
        for backend, batches in pools.items()
        for batch in batches[-_BATCHES_OF_A_ROUND:]
        if (name := key_name(mechanisms[backend], batch.specimens[0].head)) is not None
    }
    if not shown <= believed:
        believed |= _borne_twice(pools, mechanisms)
    return Keys(
        mechanisms,
        current={backend: name for backend, name in newest.items() if name in believed},
        known=believed,
        unread=frozenset(backend for backend, name in newest.items() if name not in believed),
    )


def _borne_twice(
    pools: Mapping[Address, tuple[Batch, ...]], mechanisms: Mapping[Address, Mechanism]
) -> frozenset[bytes]:
    named = {
        (key_name(mechanisms[backend], specimen.head), specimen.head)
        for backend, batches in pools.items()
        for batch in batches
        for specimen in batch.specimens
    }
    counts = Counter(name for name, _ in named if name is not None)
    return frozenset(name for name, count in counts.items() if count > 1)


def keep_known(known: tuple[bytes, ...], keys: Keys) -> tuple[bytes, ...]:
    """Remember which names were believed, those in use as the last ones, within a bound."""
    used = set(keys.current.values())
    older = [name for name in known if name not in used]
    newer = sorted(keys.known.difference(known, used))
    return tuple([*older, *newer, *sorted(used)][-max(_KNOWN_KEPT, 2 * len(used)) :])
