"""Which ticket keys each backend was seen to encrypt with, and since when; also across restarts."""

from collections import defaultdict
from collections.abc import Iterable

from exporter.model.keys import KeyRecord
from exporter.model.target import Address, TlsVersion
from exporter.verdict.history import History, KeySight, VersionHistory


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
