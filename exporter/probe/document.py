"""The state file's text: what is known of ticket keys, as JSON.

    {"version": 1, "salt": "...", "targets": {"shop": [{"version": "1.3", "backend": "192.0.2.1:443", "digest": "...",
     "first_seen": 1800000000.0, "last_seen": 1800000060.0, "current": true}]}}

Neither tickets nor names of keys are in it, only salted digests of the names; `salt` is a digest, too.
"""

import math
from collections.abc import Mapping
from itertools import chain

import msgspec

from exporter.model.fingerprint import digest
from exporter.model.keys import KeyRecord
from exporter.verdict.history import History
from exporter.verdict.keybook import seed

Records = Mapping[str, tuple[KeyRecord, ...]]
"""The records of each target, by its name."""

MAX_BYTES = 8 << 20
"""A longer file is none of ours."""

_CLOCKS_APART = 86_400.0  # seconds
_VERSION = 1
_MAX_TARGETS = 2048
_MAX_RECORDS = 30_000  # of all targets together; with the longest names and addresses that fills the 8 MiB
_MAX_DIGITS = 32  # what digests have


class DocumentError(Exception):
    """A text that cannot be used; its words say why."""


class _Head(msgspec.Struct):
    version: int
    salt: str


class _Document(msgspec.Struct):
    version: int
    salt: str
    targets: dict[str, tuple[KeyRecord, ...]]


def encode(records: Records, salt: bytes) -> bytes:
    """Write records, of too many those of keys that are in use or were seen last."""
    named = [(name, one) for name, those in list(records.items())[:_MAX_TARGETS] for one in those]
    if len(named) > _MAX_RECORDS:
        named.sort(key=lambda pair: (pair[1].current, pair[1].last_seen), reverse=True)
    targets: dict[str, list[KeyRecord]] = {}
    for name, one in named[:_MAX_RECORDS]:
        targets.setdefault(name, []).append(one)
    document = {"version": _VERSION, "salt": _mark(salt), "targets": targets}
    return msgspec.json.encode(document) + b"\n"


def decode(content: bytes, salt: bytes, now: float = math.inf) -> Records:
    """Read records.

    Args:
        now: Unix time in seconds; no key can have been seen much later than that.

    Raises:
        DocumentError: it is damaged, of another release, or its digests were made with another salt.
    """
    try:
        head = msgspec.json.decode(content, type=_Head)
        if head.version != _VERSION:
            raise DocumentError(f"it has the format's version {head.version}, and {_VERSION} is known")
        if head.salt != _mark(salt):
            raise DocumentError("its digests were made with another salt")
        targets = msgspec.json.decode(content, type=_Document).targets
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DocumentError(f"it is damaged: {error}") from None
    for one in chain.from_iterable(targets.values()):
        times = (one.first_seen, one.last_seen)
        if len(one.digest) > _MAX_DIGITS or min(times) < 0 or max(times) > now + _CLOCKS_APART:
            raise DocumentError("it is damaged: a record that cannot be")
    if len(targets) > _MAX_TARGETS or sum(map(len, targets.values())) > _MAX_RECORDS:
        raise DocumentError("it is damaged: too many records")
    return targets


def begin(records: Records) -> Mapping[str, History]:
    """Return the history with which each target begins.

    Raises:
        DocumentError: a backend's address cannot be read.
    """
    try:
        return {name: seed(those) for name, those in records.items()}
    except ValueError as error:
        raise DocumentError(f"it is damaged: {error}") from None


def _mark(salt: bytes) -> str:
    return digest(b"", salt)
