"""What the files of a configuration's sources hold before anybody probes it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from exporter.config.check import Lists
from exporter.config.problem import Problem, show
from exporter.config.settings import Config, ListingUrl, SourceSettings
from exporter.discovery.files import ListingFiles, has_wildcards
from exporter.model.target import Target


def read_lists(config: Config) -> Lists:
    """Read the files of all sources as they are now; URLs are not asked. This blocks.

    What is not there yet may come later, so it is a warning; what is there and cannot be used is a problem.
    """
    problems: list[Problem] = []
    warnings: list[Problem] = []
    holders = {target.name: (target, "the configuration") for target in config.targets}
    number = 0
    # In the order in which a name belongs to the first of several sources.
    for settings in sorted(config.discover, key=lambda source: source.name):
        if isinstance(settings.place, ListingUrl):
            continue
        if (absent := _absent(settings.place)) is not None:
            warnings.append(absent)
            continue
        look = ListingFiles(settings, settings.place).look()
        problems += look.problems
        targets = look.targets or ()
        warnings += _taken(targets, settings, holders)
        number += len({target.name for target in targets})
    return Lists(number, tuple(problems), tuple(warnings))


def _absent(place: str) -> Problem | None:
    path, words = Path(place), "no such file; what it lists is probed once it is there"
    if has_wildcards(path):
        path, words = path.parent, "no such folder; what lies in it is probed once it is there"
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return Problem(str(path), None, "", words)
    except OSError:
        return None  # it is there, or may be; reading it tells why it cannot be used
    return None


def _taken(
    targets: Iterable[Target], settings: SourceSettings, holders: dict[str, tuple[Target, str]]
) -> Iterator[Problem]:
    """Yield the targets that are left out, since others had their names first; note who has the others' names."""
    for target in targets:
        first, holder = holders.setdefault(target.name, (target, settings.name))
        if holder == settings.name:
            if first == target:
                continue
            holder = "another of its files"
        words = f"{show(target.name)} is left out, since {holder} has a target of that name"
        yield Problem(str(settings.place), None, "", words)
