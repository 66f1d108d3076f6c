"""What the files of a configuration's sources hold before anybody probes it."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from exporter.config.check import Lists
from exporter.config.problem import Problem, show
from exporter.config.settings import Config, ListingUrl
from exporter.discovery.files import ListingFiles, has_wildcards
from exporter.model.target import Target


def read_lists(config: Config) -> Lists:
    """Read the files of all sources as they are now; URLs are not asked. This blocks.

    What is not there yet may come later, so it is a warning; what is there and cannot be used is a problem.
    """
    problems: list[Problem] = []
    warnings: list[Problem] = []
    owners = {target.name: "the configuration" for target in config.targets}
    number = 0
    for settings in config.discover:
        if isinstance(settings.place, ListingUrl):
            continue
        if (absent := _absent(settings.place)) is not None:
            warnings.append(absent)
            continue
        look = ListingFiles(settings, settings.place).look()
        problems += look.problems
        targets = look.targets or ()
        warnings += _taken(targets, settings.place, owners)
        owners.update({target.name: settings.name for target in targets if target.name not in owners})
        number += len(targets)
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


def _taken(targets: Iterable[Target], place: str, owners: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the targets that are left out, since others had their names first."""
    for target in targets:
        if (owner := owners.get(target.name)) is not None:
            yield Problem(place, None, "", f"{show(target.name)} is left out, since {owner} has a target of that name")
