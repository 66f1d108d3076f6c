"""Which backends have changed the key that they encrypt with, and which seem to be about to."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from exporter.model.fingerprint import digest
from exporter.model.target import Address
from exporter.model.verdicts import KeyEvent, KeyEventKind
from exporter.verdict.history import BackendMemory, KeySight
from exporter.verdict.keybook import Entry, close, enter
from exporter.verdict.scene import VersionRound

_HERALDS_KEPT = 8
Book = Mapping[Address, tuple[KeySight, ...]]


@dataclass(frozen=True, slots=True)
class Changes:
    """What a round showed of changes of keys.

    Attributes:
        memories: with what is to be remembered of them.
        events: changes that are sure, each told once.
        turning: backends of which it was seen for the first time that they encrypt with another key.
        settled: backends that are settled on another key than before.
    """

    memories: Mapping[Address, BackendMemory]
    book: Book
    events: tuple[KeyEvent, ...] = ()
    turning: frozenset[Address] = frozenset()
    settled: frozenset[Address] = frozenset()


def find_changes(
    before: Mapping[Address, BackendMemory],
    after: Mapping[Address, BackendMemory],
    book: Book,
    issued: Mapping[Address, tuple[bytes, ...]],
    mixed: Collection[Address],
    this: VersionRound,
) -> Changes:
    """Compare each backend's key with what is written of it, and the keys of new backends with the fleet's.

    Args:
        before: what was remembered of the backends.
        after: the same, with the keys followed through this round.
        book: the keys that were seen up to now, also of backends that have left.
        issued: names of the keys that each backend encrypted with in this round.
        mixed: backends behind which several keys are known to answer.
    """
    fleet = {sight.digest: sight.current for page in book.values() for sight in page}
    pages, memories = dict(book), dict(after)
    events: list[KeyEvent] = []
    turning: set[Address] = set()
    settled: set[Address] = set()
    for backend, memory in after.items():
        if memory.line.name is None:
            continue
        old = before[backend].line.name if backend in before else None
        turn = _turn(memory, old, pages.get(backend, ()), issued[backend], mixed=backend in mixed, this=this)
        memories[backend], pages[backend] = turn.memory, turn.page
        mark = next(sight.digest for sight in turn.page if sight.current)
        # A key is new with a backend that was not there before only if nobody had it.
        if turn.new and (turn.known or (memory.newcomer and mark not in fleet)):
            events.append(KeyEvent(KeyEventKind.CHANGE, backend, old, memory.line.name))
        if turn.turning or (memory.newcomer and not turn.known and not fleet.get(mark)):
            turning.add(backend)
        if old not in {None, memory.line.name}:
            settled.add(backend)
        fleet[mark] = True
    return Changes(memories, close(pages, after), tuple(events), frozenset(turning), frozenset(settled))


@dataclass(frozen=True, slots=True)
class _Turn:
    """What a round showed of one backend's key.

    Attributes:
        new: it is settled on a key that it was not seen to have before.
        turning: it begins to encrypt with another key.
        known: some key of its was known before.
    """

    memory: BackendMemory
    page: tuple[KeySight, ...]
    new: bool
    turning: bool
    known: bool


def _turn(
    memory: BackendMemory,
    old: bytes | None,
    page: tuple[KeySight, ...],
    issued: Sequence[bytes],
    *,
    mixed: bool,
    this: VersionRound,
) -> _Turn:
    now, salt = this.now, this.rules.salt
    name = memory.line.name or b""
    several = mixed or memory.line.several
    fresh = dict.fromkeys((one for one in issued if one != old and one not in memory.heralds), now)
    heralds = {**memory.heralds, **fresh}
    begun = heralds.pop(name, now)
    entered, new = enter(page, Entry(name, heralds, several, begun), now, salt)
    known = {sight.digest for sight in page}
    # After a restart the key that was current before is no news.
    current = {sight.digest for sight in page if sight.current} if old is None else set()
    unheard = any(not several or digest(one, salt) not in known for one in fresh if digest(one, salt) not in current)
    heralds = {} if several else dict(list(heralds.items())[-_HERALDS_KEPT:])
    keys_seen = (memory.keys_seen or len(page)) + len({sight.digest for sight in entered} - known)
    if (heralds, keys_seen) != (memory.heralds, memory.keys_seen):
        memory = replace(memory, heralds=heralds, keys_seen=keys_seen)
    return _Turn(memory, entered, new and not several, bool(page) and unheard, bool(page))
