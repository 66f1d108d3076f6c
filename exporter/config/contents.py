"""What files held when a configuration was read from them, so that a change of content can be told from a touch."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

Digest: TypeAlias = str | None
"""Of a file's content; None for a file that is not there, or cannot be read."""


class Contents:
    """The files that were read, each with a digest of what it held."""

    def __init__(self) -> None:
        self._digests: dict[Path, Digest] = {}

    @property
    def digests(self) -> Mapping[Path, Digest]:
        """All files so far."""
        return dict(self._digests)

    def note(self, path: Path, digest: Digest) -> None:
        """Note what a file was found to hold."""
        self._digests[path] = digest

    def sum_up(self, paths: Iterable[Path]) -> str:
        """Return one digest for what these files held when they were read."""
        return digest_of(" ".join(str(self._digests.get(path)) for path in paths).encode())


def digest_of(content: bytes) -> str:
    """Return 32 hexadecimal digits that stand for a content."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
