"""What a watch tells, line by line: pure (Kubernetes API concepts, "Efficient detection of changes")."""

from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import TypeVar

import msgspec

from exporter.discovery.kubernetes.slices import Metadata, Page, Slice

S = TypeVar("S", Page, Slice, "Bookmark", "Status", "Event")


class Trouble(Enum):
    """How a list or a watch can end otherwise than it should."""

    GONE = "gone"
    """The version is too old to go on from: list anew (status 410)."""
    DROPPED = "dropped"
    """The stream broke: go on from the last version."""
    FAILED = "failed"
    """Nobody answered, or the answer was no."""
    INVALID = "invalid"
    """The answer makes no sense, so what was heard before may be wrong, too: list anew."""


class ApiError(Exception):
    """A list or a watch that ended otherwise than it should.

    Args:
        words: what happened, for people.
        wait: seconds before which the server does not want to be asked again.
    """

    def __init__(self, trouble: Trouble, words: str, wait: float = 0.0) -> None:
        super().__init__(words)
        self.trouble = trouble
        self.words = words
        self.wait = wait


class Event(msgspec.Struct, frozen=True):
    """One line of a watch."""

    type: str
    object: msgspec.Raw


class Bookmark(msgspec.Struct, frozen=True):
    """A newer version to go on from, when nothing else has happened."""

    metadata: Metadata


class Status(msgspec.Struct, frozen=True):
    """Why a watch cannot go on."""

    code: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What one event changes.

    Attributes:
        version: to go on from.
        name: of a slice; empty where none has changed.
        slice: as it is now, None where it is gone.
    """

    version: str
    name: str = ""
    slice: Slice | None = None


def read_page(body: bytes) -> Page:
    """Return a list, or a part of one.

    Raises:
        ApiError: it is none.
    """
    page = _decode(body, Page)
    if not page.metadata.resource_version:
        raise ApiError(Trouble.INVALID, "a list without a version")
    return page


def read_event(line: bytes) -> Change:
    """Return what an event changes.

    Raises:
        ApiError: it says that the watch is over, or makes no sense.
    """
    event = _decode(line, Event)
    match event.type:
        case "ADDED" | "MODIFIED":
            found = _decode(event.object, Slice)
            return Change(_version(found.metadata), _name(found), found)
        case "DELETED":
            found = _decode(event.object, Slice)
            return Change(_version(found.metadata), _name(found))
        case "BOOKMARK":
            return Change(_version(_decode(event.object, Bookmark).metadata))
        case "ERROR":
            status = _decode(event.object, Status)
            kind = Trouble.GONE if status.code == HTTPStatus.GONE else Trouble.INVALID
            raise ApiError(kind, f"the watch ended with status {status.code}")
        case _:
            raise ApiError(Trouble.INVALID, "an event of an unknown type")


def _decode(body: "bytes | msgspec.Raw", kind: type[S]) -> S:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        raise ApiError(Trouble.INVALID, f"an answer that is no {kind.__name__.lower()}") from None


def _version(metadata: Metadata) -> str:
    if not metadata.resource_version:
        raise ApiError(Trouble.INVALID, "an event without a version")
    return metadata.resource_version


def _name(found: Slice) -> str:
    if not found.metadata.name:
        raise ApiError(Trouble.INVALID, "a slice without a name")
    return found.metadata.name
