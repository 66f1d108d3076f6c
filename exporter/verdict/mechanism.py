"""How a backend keeps its sessions, read from the tickets that it hands out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from exporter.model.observation import Ticket, TlsFacts
from exporter.model.target import Address
from exporter.model.verdicts import Mechanism

_HEAD_BYTES = 32  # no known layout has its key name any deeper
_SPECIMENS_PER_BATCH = 4
_FULL_KEPT = 16
_RESUMED_KEPT = 4  # enough to show a layout in the first round, and the newest key
_SESSION_ID_BYTES = 32  # RFC 8446 leaves the ticket free; OpenSSL and rustls send a session id of this size

_NAME_BYTES = {
    Mechanism.RFC5077: slice(0, 16),  # RFC 5077 section 4
    Mechanism.SHORT_NAME: slice(0, 4),
    Mechanism.S2N: slice(1, 17),  # a version byte stands before the name
}
LONG_NAME = 16
"""Names from this size on are random enough that equal names mean the same key; shorter ones are mere counters."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """What is kept of a ticket: its first bytes, which hold the key's name, and its size in bytes."""

    head: bytes = field(repr=False)
    size: int


@dataclass(frozen=True, slots=True)
class Batch:
    """The tickets that one connection brought.

    Attributes:
        full: they came of a full handshake, so that whichever server sits behind the address had a free choice of key.
    """

    specimens: tuple[Specimen, ...]
    full: bool


def specimen_of(ticket: Ticket) -> Specimen:
    """Keep of a ticket only what tells its layout and its key's name."""
    return Specimen(ticket.identity[:_HEAD_BYTES], len(ticket.identity))


def pool(batches: tuple[Batch, ...], connections: Iterable[TlsFacts]) -> tuple[Batch, ...]:
    """Add the tickets of some connections to those that are remembered, the newest last, within a bound."""
    fresh = tuple(
        Batch(tuple(specimen_of(ticket) for ticket in facts.tickets[:_SPECIMENS_PER_BATCH]), full=not facts.resumed)
        for facts in connections
        if facts.tickets
    )
    room = {True: _FULL_KEPT, False: _RESUMED_KEPT}
    kept: list[Batch] = []
    for batch in reversed(batches + fresh):
        if room[batch.full]:
            room[batch.full] -= 1
            kept.append(batch)
    return tuple(reversed(kept))


def divergence_depth(heads: Iterable[bytes]) -> int:
    """Tell at which byte most tickets part from each other: that is where the key's name ends.

    It is the depth with most branches in the prefix tree of the tickets, which several keys behind one address
    do not disturb, while they would bring the longest common prefix down to nothing. Of equal depths the deepest
    is taken, since bytes seldom agree by chance.
    """
    ordered = sorted(set(heads))
    # Between sorted neighbours, the shared prefixes of length d are just the tree's extra branches at depth d.
    branches = Counter(_shared(one, other) for one, other in pairwise(ordered))
    return max(branches, key=lambda depth: (branches[depth], depth), default=0)


def _shared(one: bytes, other: bytes) -> int:
    size = min(len(one), len(other))
    differing = int.from_bytes(one[:size], "big") ^ int.from_bytes(other[:size], "big")
    return size - (differing.bit_length() + 7) // 8


def classify(batches: Sequence[Batch], *, accepted: bool) -> Mechanism:
    """Name the mechanism behind a backend's tickets.

    One connection is not enough for a layout: what its tickets share may be its own. 32 bytes have no room for
    an encrypted session, so they are an id, for certain once one was accepted or two connections brought such.
    """
    recent = _of_newest_form(batches)
    specimens = {specimen for batch in recent for specimen in batch.specimens}
    if not specimens:
        return Mechanism.UNKNOWN
    if all(specimen.size == _SESSION_ID_BYTES for specimen in specimens):
        return Mechanism.STATEFUL if accepted or len(recent) > 1 else Mechanism.UNKNOWN
    if len(recent) < 2:
        return Mechanism.UNKNOWN
    return _layout({specimen.head for specimen in specimens})


def _layout(heads: set[bytes]) -> Mechanism:
    depth = divergence_depth(heads)
    if depth >= 17 and all(head[:1] == b"\x01" for head in heads):
        return Mechanism.S2N
    if depth >= 16:
        return Mechanism.RFC5077
    # A byte or two behind a short name agree by chance now and then; eight to fifteen are no layout that is known.
    if 4 <= depth < 8:
        return Mechanism.SHORT_NAME
    # Two tickets without a common prefix may as well be of two keys.
    if depth < 4 and len(heads) > 2:
        return Mechanism.HIDDEN
    return Mechanism.UNKNOWN


def layout_in_common(heads: Mapping[Address, bytes]) -> dict[Address, Mechanism]:
    """Name the layout of tickets of different backends, for those that share a long name with another one's."""
    ordered = sorted((head, owner) for owner, head in heads.items())
    found: dict[Address, Mechanism] = {}
    for (one, owner), (other, neighbour) in pairwise(ordered):
        if _shared(one, other) >= LONG_NAME and len(one) >= _HEAD_BYTES:
            layout = _layout({one, other}) if one != other else Mechanism.UNKNOWN
            found.update({owner: layout, neighbour: layout})
    return found


def _of_newest_form(batches: Sequence[Batch]) -> list[Batch]:
    """Take the batches since the backend last went from session ids to tickets, or back."""
    newest = _are_ids(batches[-1]) if batches else False
    return list(takewhile(lambda batch: _are_ids(batch) == newest, reversed(batches)))


def _are_ids(batch: Batch) -> bool:
    return all(specimen.size == _SESSION_ID_BYTES for specimen in batch.specimens)


def key_name(mechanism: Mechanism, head: bytes) -> bytes | None:
    """Cut the key's name out of a ticket's head; None where the mechanism shows none."""
    where = _NAME_BYTES.get(mechanism)
    if where is None or len(head) < where.stop:
        return None
    return head[where]
