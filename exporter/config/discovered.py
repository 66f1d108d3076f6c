"""From a list of targets in Prometheus's form to targets: `[{targets: [ADDRESS, ...], labels: {NAME: TEXT}}]`."""

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass

from msgspec import field

from exporter.config.conversion import convert
from exporter.config.document import MAX_BYTES, compose
from exporter.config.kinds import Address, Fields
from exporter.config.problem import ConfigError, Findings, Place, show, spell
from exporter.config.targets import target
from exporter.config.template import Template, split_labels
from exporter.model.target import Target

_FORM = "a list of {targets: [ADDRESS, ...], labels: {NAME: TEXT}}"


class GroupSection(Fields, frozen=True):
    """Targets with their labels.

    Attributes:
        targets: addresses, with port 443 where none is given.
        labels: those that begin with `__tlsprobe_` are settings, others that begin with `__` are left out; a name
            that is taken, such as `job`, comes as `exported_job`.
    """

    targets: list[Address]
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listing:
    """A list as it was got.

    Attributes:
        text: JSON or YAML.
        source: what problems call it, such as its file's name.
        is_json: or else it is YAML.
    """

    text: str
    source: str
    is_json: bool


def read_listing(listing: Listing, template: Template, max_targets: int) -> tuple[Target, ...]:
    """Return the targets of a list, whole or not at all.

    Raises:
        ConfigError: with all that is wrong. An empty text is, since a file that is being written is empty for a
            moment; no targets are `[]`.
    """
    if not listing.is_json:
        findings = Findings(listing.source)
        return _read(compose(listing.text, findings), template, max_targets, findings)
    tree = _parse_json(listing)
    try:
        return _read(tree, template, max_targets, Findings(listing.source))
    except ConfigError:
        findings = Findings(listing.source)
        findings.lines = _lines_of(listing.text)
        return _read(tree, template, max_targets, findings)  # raises the same again, with lines


def _parse_json(listing: Listing) -> object:
    findings = Findings(listing.source)
    if len(listing.text) > MAX_BYTES:
        findings.stop("the list is too large", "at most 4 MiB")
    try:
        return json.loads(listing.text)
    except json.JSONDecodeError as error:
        findings.stop(f"this is not JSON from column {error.colno} on", _FORM, error.lineno)
    except (RecursionError, ValueError):  # more levels than the stack holds, more digits than a number may have
        findings.stop("this is no JSON of reasonable size", _FORM)


def _lines_of(text: str) -> dict[Place, int]:
    """Return the lines of JSON's values, as a reader of YAML tells them: JSON is YAML, but for some escapes."""
    findings = Findings("")
    with suppress(ConfigError):
        compose(text, findings)
    return findings.lines


def _read(tree: object, template: Template, max_targets: int, findings: Findings) -> tuple[Target, ...]:
    if not isinstance(tree, list):
        findings.stop(f"found {show(tree)}", _FORM)
    targets: list[Target] = []
    first: dict[str, tuple[Place, Target]] = {}
    for place, found in _read_groups(tree, template, findings):
        twin, alike = first.setdefault(found.name, (place, found))
        if twin != place and found == alike:
            continue  # said twice, as lists that are put together from several say it
        if len(targets) == max_targets:
            findings.add((place[0], "targets"), f"more than {max_targets} targets", "max_targets of the source")
            break
        if twin != place and not findings.refused(place):
            findings.add(place, f"{show(found.name)} is the name of {spell(twin)} too", "a name of its own")
        targets.append(found)
    findings.conclude()
    return tuple(targets)


def _read_groups(tree: list[object], template: Template, findings: Findings) -> Iterator[tuple[Place, Target]]:
    reading = template.reading(findings)
    for at, item in enumerate(tree):
        group = convert(GroupSection, item, (at,), findings)
        labels, meta = split_labels(group.labels, (at, "labels"), findings)
        for number, address in enumerate(group.targets):
            place: Place = (at, "targets", number)
            if not findings.refused(place):
                _lend_lines(findings, (at,), place, labels)
                yield place, target(template.fill(address, labels, meta), place, reading)


def _lend_lines(findings: Findings, group: Place, place: Place, labels: Collection[str]) -> None:
    """Let a target's labels stand in the lines of its group's."""
    for name in labels:
        line = findings.lines.get((*group, "labels", name.removeprefix("exported_")))
        if (line := findings.lines.get((*group, "labels", name), line)) is not None:
            findings.lines[(*place, "labels", name)] = line
