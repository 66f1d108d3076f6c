"""Which ticket keys each backend was seen to encrypt with, and since when; also across restarts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from exporter.model.fingerprint import digest
from exporter.model.keys import KeyRecord
from exporter.model.target import Address, TlsVersion
from exporter.verdict.history import History, KeySight, VersionHistory

_SIGHTS_KEPT = 8
_DEPARTED_KEPT = 64


@dataclass(frozen=True, slots=True)
class Entry:
    """What a round adds to a backend's page.

    Attributes:
        settled: name of the key that the backend is settled on.
        others: names of keys that answer there beside it, with the time at which each was first seen.
        absorbed: those others are known to be of servers that take turns, so they will never count as changes.
        begun: when the settled key was first seen.
    """

    settled: bytes
    others: Mapping[bytes, float]
    absorbed: bool
    begun: float


def enter(page: tuple[KeySight, ...], entry: Entry, now: float, salt: bytes) -> tuple[tuple[KeySight, ...], bool]:
    """Add a round to a backend's page, and tell whether the key that it is settled on is new there."""
    mark = digest(entry.settled, salt)
    known = {sight.digest for sight in page}
    sights = [
        replace(sight, current=sight.digest == mark, last_seen=now if sight.digest == mark else sight.last_seen)
        for sight in page
    ]
    if mark not in known:
        sights.append(KeySight(mark, entry.begun, now, current=True))
    if entry.absorbed:
        beside = {digest(name, salt): begun for name, begun in entry.others.items()}
        sights += [KeySight(other, begun, now, False) for other, begun in beside.items() if other not in known | {mark}]
    return _keep(sights), mark not in known


def _keep(sights: list[KeySight]) -> tuple[KeySight, ...]:
    """Drop those that were seen longest ago where there are too many."""
    while len(sights) > _SIGHTS_KEPT:
        sights.remove(min((one for one in sights if not one.current), key=lambda one: one.last_seen))
    return tuple(sights)


def close(
    book: Mapping[Address, tuple[KeySight, ...]], present: Collection[Address]
) -> dict[Address, tuple[KeySight, ...]]:
    """Mark the keys of backends that have left, and drop the pages of those that left longest ago."""
    departed = {
        backend: tuple(replace(sight, current=False) if sight.current else sight for sight in page)
        for backend, page in book.items()
        if backend not in present
    }
    by_age = sorted(departed, key=lambda backend: max(sight.last_seen for sight in departed[backend]))
    forgotten = set(by_age[:-_DEPARTED_KEPT])
    return {backend: departed.get(backend, page) for backend, page in book.items() if backend not in forgotten}


def records_of(history: History) -> tuple[KeyRecord, ...]:
    """Give all that a restart must know of the keys that were seen."""
    return tuple(
        KeyRecord(version, str(backend), one.digest, one.first_seen, one.last_seen, one.current)
        for version, remembered in history.versions.items()
        for backend, sights in remembered.book.items()
        for one in sights
    )


def seed(records: Iterable[KeyRecord]) -> History:
    """Begin a target's history with the keys that were known before.

    Raises:
        ValueError: a backend is no address and port.
    """
    books: defaultdict[TlsVersion, defaultdict[Address, list[KeySight]]] = defaultdict(lambda: defaultdict(list))
    for record in sorted(records, key=lambda record: record.first_seen):
        sight = KeySight(record.digest, record.first_seen, record.last_seen, record.current)
        books[record.version][_address(record.backend)].append(sight)
    return History(
        versions={
            version: VersionHistory(book={backend: tuple(sights) for backend, sights in book.items()})
            for version, book in books.items()
        }
    )


def _address(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    if not colon or not host:
        raise ValueError(f"{text!r} is no address and port")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))
