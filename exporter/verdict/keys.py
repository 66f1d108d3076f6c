"""Names of ticket keys, as far as tickets show them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from exporter.model.observation import Ticket
from exporter.model.target import Address
from exporter.model.verdicts import Mechanism
from exporter.verdict.mechanism import Batch, key_name, specimen_of


@dataclass(frozen=True, slots=True)
class Keys:
    """The key names that can be read in a fleet.

    Attributes:
        mechanisms: how each backend's tickets are laid out.
        current: the name of the key with which each backend encrypts; absent where none is visible.
        known: the names that may be believed.
    """

    mechanisms: Mapping[Address, Mechanism] = field(default_factory=dict)
    current: Mapping[Address, bytes] = field(default_factory=dict, repr=False)
    known: frozenset[bytes] = field(default=frozenset(), repr=False)

    def name(self, issuer: Address, ticket: Ticket | None) -> bytes | None:
        """Read the key's name off a ticket, None where it shows none that may be believed."""
        if ticket is None:
            return None
        name = key_name(self.mechanisms.get(issuer, Mechanism.UNKNOWN), specimen_of(ticket).head)
        return name if name in self.known else None


def read_keys(pools: Mapping[Address, tuple[Batch, ...]], mechanisms: Mapping[Address, Mechanism]) -> Keys:
    """Read the names of all keys in use.

    A name is believed once two tickets of the fleet bear it: a backend whose software was changed for one that hides
    its names would otherwise show a new key with each ticket.
    """
    named = {
        (key_name(mechanisms[backend], specimen.head), specimen.head)
        for backend, batches in pools.items()
        for batch in batches
        for specimen in batch.specimens
    }
    counts = Counter(name for name, _ in named if name is not None)
    known = frozenset(name for name, count in counts.items() if count > 1)
    newest = {
        backend: key_name(mechanisms[backend], batches[-1].specimens[0].head)
        for backend, batches in pools.items()
        if batches
    }
    return Keys(mechanisms, {backend: name for backend, name in newest.items() if name in known}, known)
