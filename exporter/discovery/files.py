"""Lists of targets in files, looked at again and again: what counts is their content, not their dates.

So a ConfigMap's files, which are swapped by a symbolic link, are taken up like any others.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from exporter.config.discovered import Listing, read_listing
from exporter.config.document import MAX_BYTES
from exporter.config.files import read_bounded
from exporter.config.problem import ConfigError, Findings, Problem, RefusedError
from exporter.config.settings import SourceSettings
from exporter.model.target import Target

_MAX_FILES = 200


@dataclass(frozen=True, slots=True)
class Look:
    """What one look brought.

    Attributes:
        targets: all that are known now, with the last good list of what cannot be read; None where none ever was.
        problems: what could not be used.
    """

    targets: tuple[Target, ...] | None
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class _File:
    """One file: what it last held, what came of it, and the last good list."""

    digest: bytes = b""
    specimen: Target | None = None
    problems: tuple[Problem, ...] = ()
    targets: tuple[Target, ...] | None = None


class ListingFiles:
    """The files of one source; all calls block.

    Args:
        settings: whose place is a path, with wildcards in its last part where there are to be several.
    """

    def __init__(self, settings: SourceSettings, pattern: str) -> None:
        self._settings = settings
        self._pattern = Path(pattern)
        self._files: dict[Path, _File] = {}

    def look(self) -> Look:
        """Read what has changed; each file is taken up whole or not at all."""
        findings = Findings(str(self._pattern))
        specimen = self._settings.template.specimen((), findings)
        try:
            findings.conclude()
            paths = self._match(findings)
        except ConfigError as error:
            return Look(self._known(), error.problems)
        self._files = {path: self._files.get(path, _File()) for path in paths}
        for path, file in self._files.items():
            self._read(path, file, specimen)
        problems = tuple(problem for file in self._files.values() for problem in file.problems)
        return self._within_bound(Look(self._known() if paths else (), problems))

    def _match(self, findings: Findings) -> list[Path]:
        """Return the files; one that a wildcard matched and that is gone has taken its targets with it."""
        if not has_wildcards(self._pattern):
            return [self._pattern]
        try:
            paths = sorted(self._pattern.parent.glob(self._pattern.name))
        except OSError as error:
            findings.stop(f"the folder cannot be read: {error.strerror}", "a readable folder")
        if len(paths) > _MAX_FILES:
            findings.stop(f"{len(paths)} files", f"at most {_MAX_FILES}")
        return paths

    def _known(self) -> tuple[Target, ...] | None:
        lists = [file.targets for file in self._files.values() if file.targets is not None]
        return tuple(target for targets in lists for target in targets) if lists else None

    def _read(self, path: Path, file: _File, specimen: Target) -> None:
        findings = Findings(str(path))
        try:
            content = _content(path, findings)
        except ConfigError as error:
            file.digest, file.problems = b"", error.problems
            return
        digest = hashlib.blake2b(content).digest()
        if (digest, specimen) == (file.digest, file.specimen):
            return  # neither it has changed nor any file that the template names
        file.digest, file.specimen = digest, specimen
        try:
            listing = Listing(_text(content, findings), str(path), path.suffix == ".json")
            file.targets = read_listing(listing, self._settings.template, self._settings.max_targets)
            file.problems = ()
        except ConfigError as error:
            file.problems = error.problems

    def _within_bound(self, look: Look) -> Look:
        """Leave out the last files' targets where all files together have too many."""
        most = self._settings.max_targets
        if look.targets is None or len(look.targets) <= most:
            return look
        found = f"{len(look.targets)} targets in {len(self._files)} files, of which {most} are probed"
        problem = Problem(str(self._pattern), None, "", found, "max_targets of the source")
        return Look(look.targets[:most], (*look.problems, problem))


def has_wildcards(pattern: Path) -> bool:
    """Tell whether several files may be meant."""
    return any(mark in pattern.name for mark in "*?[")


def _content(path: Path, findings: Findings) -> bytes:
    try:
        return read_bounded(path, MAX_BYTES)
    except RefusedError as refusal:
        findings.stop(refusal.found, refusal.allowed)


def _text(content: bytes, findings: Findings) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        findings.stop("it holds bytes that are no text", "UTF-8 text", line)
