"""What the files of a configuration's sources hold before anybody probes it."""

from collections.abc import Mapping
from pathlib import Path

from exporter.config.check import Lists
from exporter.config.problem import Problem, show
from exporter.config.settings import Config, ListingUrl
from exporter.discovery.files import ListingFiles, has_wildcards
from exporter.schedule.roster import CONFIGURATION, Clash, Roster, Union


def read_lists(config: Config) -> Lists:
    """Read the files of all sources as they are now; URLs are not asked. This blocks.

    What is not there yet may come later, so it is a warning; what is there and cannot be used is a problem. Names that
    are taken are found as they are found while we run.
    """
    problems: list[Problem] = []
    warnings: list[Problem] = []
    unions: list[Union] = []
    roster = Roster(unions.append)
    roster.hand_over(CONFIGURATION, config.targets)
    places: dict[str, str] = {}
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
        places[settings.name] = settings.place
        roster.hand_over(settings.name, targets)
        number += len({target.name for target in targets})
    warnings += [_left_out(clash, places) for clash in unions[-1].clashes]
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


def _left_out(clash: Clash, places: Mapping[str, str]) -> Problem:
    holder = "the configuration" if clash.holder == CONFIGURATION else clash.holder
    if clash.holder == clash.source:
        holder = "another of its files"
    words = f"{show(clash.name)} is left out, since {holder} has a target of that name"
    return Problem(places[clash.source], None, "", words)
