"""Lines of JSON between the parent, the child and its sampler."""

import json
from collections.abc import Mapping
from enum import StrEnum


class Question(StrEnum):
    """What the child can be asked while it serves."""

    METERS = "meters"
    """What its listeners have used; answered at once, so it is a sign of life, too."""
    SAMPLE = "sample"
    """To measure what it can do, which takes a second or so."""


def encode(message: Mapping[str, object]) -> bytes:
    """Return a line, its end included."""
    return json.dumps(message).encode() + b"\n"


def ask(question: Question) -> bytes:
    """Return the line that asks."""
    return encode({"ask": question})


class LineBuffer:
    """Collects bytes until there are whole lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes, and return the lines that they complete, their ends included."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [line + b"\n" for line in lines]
