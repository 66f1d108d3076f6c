"""What all targets of a source have, and what a source's labels may say otherwise of one of them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta, structs

from exporter.config.conversion import convert
from exporter.config.files import Files
from exporter.config.kinds import Address, Duration, Fields, Name, RequestPath, Version
from exporter.config.problem import Findings, Place
from exporter.config.schema import DefaultsSection, HttpSection, TargetSection, TemplateSection
from exporter.config.targets import ATTACHED_LABELS, OUR_LABELS, Reading, target
from exporter.model.target import StartTls, Target

META = "__tlsprobe_"
"""What labels begin with that are settings."""
_HIDDEN = "__"  # as in Prometheus, labels of its service discovery that are no part of what it keeps
_EXPORTED = "exported_"
_TAKEN = frozenset({*OUR_LABELS, *ATTACHED_LABELS})
_LISTS = ("backends", "versions")

ServerName = Annotated[str, Meta(extra={"allowed": "a DNS name, or an IP address"})]


class MetaSection(Fields, frozen=True, rename=lambda name: META + name):
    """The settings that labels can carry; lists are texts with commas there.

    Attributes:
        name: of the target, instead of its address.
    """

    name: Name | None = None
    server_name: ServerName | None = None
    path: RequestPath | None = None
    versions: list[Version] | None = None
    interval: Duration | None = None
    timeout: Duration | None = None
    backends: list[Address] | None = None
    starttls: StartTls | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """What all targets of a source have.

    Attributes:
        folder: where relative paths in it start.
    """

    section: TemplateSection = field(default_factory=TemplateSection)
    defaults: DefaultsSection = field(default_factory=DefaultsSection)
    folder: Path = Path()

    def specimen(self, place: Place, findings: Findings, files: Files | None = None) -> Target:
        """Return a target without any settings of its own, and note what would be wrong with every target."""
        section = TargetSection(name="specimen", address="localhost", **structs.asdict(self.section))
        return target(section, place, Reading(self.defaults, files or Files(self.folder), findings))

    def reading(self, findings: Findings) -> Reading:
        """Return what targets are read with; files that are named are read anew, each once."""
        return Reading(self.defaults, Files(self.folder), findings)

    def fill(self, address: str, labels: dict[str, str], meta: MetaSection) -> TargetSection:
        """Return the section of one target."""
        fields = structs.asdict(self.section)
        fields |= {
            name: value
            for name in ("server_name", "interval", "timeout", "backends", "starttls")
            if (value := getattr(meta, name)) is not None
        }
        if meta.path is not None:
            fields["http"] = structs.replace(self.section.http, path=meta.path)
        elif meta.starttls is not None:
            fields["http"] = HttpSection()
        if meta.versions is not None:
            fields["tls"] = structs.replace(self.section.tls, versions=meta.versions)
        fields["labels"] = {**self.section.labels, **labels}
        return TargetSection(name=meta.name or address, address=address, **fields)


def set_apart(labels: dict[str, str]) -> dict[str, str]:
    """Return the labels with `exported_` before names that are taken, as Prometheus does with those of a scrape.

    A list is often Prometheus's own, too, in which `job` and `cluster` are quite usual; the configuration is written
    for us alone, so such a name is a mistake there.
    """
    free = {name: value for name, value in labels.items() if name not in _TAKEN}
    for name, value in labels.items():
        if name in _TAKEN:
            other = _EXPORTED + name
            while other in free:
                other = _EXPORTED + other
            free[other] = value
    return free


def split_labels(labels: dict[str, str], place: Place, findings: Findings) -> tuple[dict[str, str], MetaSection]:
    """Return the labels that are kept, and the settings among the others."""
    settings: dict[str, object] = {name: value for name, value in labels.items() if name.startswith(META)}
    for name in _LISTS:
        if (text := labels.get(META + name)) is not None:
            settings[META + name] = [part.strip() for part in text.split(",")]
    kept = {name: value for name, value in labels.items() if not name.startswith(_HIDDEN)}
    return set_apart(kept), convert(MetaSection, settings, place, findings)
