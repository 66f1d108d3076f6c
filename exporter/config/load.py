"""From a file, or a text, to a configuration, with all its problems at once."""

from pathlib import Path

from exporter.config.contents import Contents
from exporter.config.conversion import convert
from exporter.config.document import MAX_BYTES, compose
from exporter.config.files import Files
from exporter.config.kinds import SecretSection
from exporter.config.problem import ConfigError, Findings, Place, Problem, RefusedError, show
from exporter.config.schema import Document, TargetSection, TicketKeysSection, WaveSection
from exporter.config.settings import Config, LogSettings, ReferenceSettings, TicketKeys, WaveSettings
from exporter.config.sources import sources
from exporter.config.targets import Reading, target
from exporter.config.times import check_defaults
from exporter.config.values import parse_duration, parse_listen_address, spell_duration
from exporter.model.fingerprint import SALT, salt_of
from exporter.model.target import MAX_SHARED, Target

__all__ = ["Config", "ConfigError", "Problem", "load", "parse"]


def load(path: Path, contents: Contents | None = None) -> Config:
    """Return the configuration that a file holds; names of files in it are taken from its folder.

    Args:
        contents: notes which files were read and what they held, also where they cannot be used.

    Raises:
        ConfigError: with all that is wrong.
    """
    findings = Findings(str(path))
    files = Files(path.parent, contents)
    try:
        content = files.read(path, MAX_BYTES)
    except RefusedError as refusal:
        findings.stop(refusal.found, refusal.allowed)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        findings.stop("this is not YAML: it holds bytes that are no text", "UTF-8 text", line)
    return _parse(text, files, findings)


def parse(text: str, source: str, folder: Path) -> Config:
    """Return the configuration that a text holds.

    Args:
        text: YAML.
        source: what problems call the text, such as its file's name.
        folder: where relative paths in it start.

    Raises:
        ConfigError: with all that is wrong.
    """
    return _parse(text, Files(folder), Findings(source))


def _parse(text: str, files: Files, findings: Findings) -> Config:
    tree = compose(text, findings)
    if tree is None:
        # A file that is being written is empty for a moment, and that must not drop all targets on a reload.
        findings.stop("nothing but space and comments", "a mapping, `targets: []` for no targets")
    document = convert(Document, tree, (), findings)
    config = _config(document, files, findings)
    findings.conclude()
    return config


def _config(document: Document, files: Files, findings: Findings) -> Config:
    reference = document.reference
    config = Config(
        listen=_listen(document, findings),
        targets=_targets(document, files, findings),
        discover=sources(document, files, findings),
        ticket_keys=_ticket_keys(document.ticket_keys, files, findings),
        reference=ReferenceSettings(
            reference.enabled, findings.read(("reference", "interval"), _parse_interval, reference.interval, 0.0)
        ),
        wave=None if document.wave is None else _wave(document.wave, findings),
        log=LogSettings(document.log.level, document.log.format),
    )
    untold = not any(findings.refused((part,)) for part in ("targets", "discover"))
    if not config.reference.enabled and not config.targets and not config.discover and untold:
        findings.add(("reference", "enabled"), "false, and no targets: nothing is left to probe", "true, or a target")
    return config


def _ticket_keys(section: TicketKeysSection, files: Files, findings: Findings) -> TicketKeys:
    return TicketKeys(
        grace=findings.read(("ticket_keys", "grace"), parse_duration, section.grace, 0.0),
        hold=section.hold,
        state_file=None if section.state_file is None else files.locate(section.state_file),
        salt=findings.read(("ticket_keys", "salt"), lambda raw: _salt(raw, files), section.salt, SALT),
    )


def _wave(section: WaveSection, findings: Findings) -> WaveSettings:
    return WaveSettings(
        clients=section.clients,
        servers=section.servers,
        ceiling=section.ceiling,
        window=findings.read(("wave", "window"), _parse_window, section.window, 0.0),
        resumed_ceiling=section.resumed_ceiling,
    )


def _parse_window(raw: float | str) -> float:
    seconds = parse_duration(raw)
    if seconds == 0:
        raise RefusedError(f"{spell_duration(raw)} is no window", "more than 0s")
    return seconds


def _salt(raw: str | SecretSection | None, files: Files) -> bytes:
    if raw is None:
        return SALT
    text = raw if isinstance(raw, str) else files.secret(raw.file)
    if not text:
        raise RefusedError("the file is empty", "a text of at least 1 character")
    return salt_of(text)


def _listen(document: Document, findings: Findings) -> tuple[str, ...]:
    if not document.listen and not findings.refused(("listen",)):
        findings.add(("listen",), "an empty list", "at least one address, such as :10507")
    places: list[Place] = [("listen", at) for at in range(len(document.listen))]
    return tuple(
        findings.read(place, parse_listen_address, text, "")
        for place, text in zip(places, document.listen, strict=True)
    )


def _targets(document: Document, files: Files, findings: Findings) -> tuple[Target, ...]:
    defaults = document.defaults
    check_defaults(defaults, findings)
    reading = Reading(defaults, files, findings)
    targets: list[Target] = []
    first: dict[str, int] = {}
    for at, section in enumerate(document.targets):
        targets.append(target(section, ("targets", at), reading))
        _refuse_twin(section, at, first, findings)
    for at, section in enumerate(document.targets):
        _check_sharing(section, ("targets", at, "share_with"), frozenset(first), findings)
    return tuple(targets)


def _refuse_twin(section: TargetSection, at: int, first: dict[str, int], findings: Findings) -> None:
    place = ("targets", at, "name")
    if findings.refused(place):
        return
    twin = first.setdefault(section.name, at)
    if twin != at:
        findings.add(place, f"{show(section.name)} is the name of targets[{twin}] too", "a name of its own")


def _check_sharing(section: TargetSection, place: Place, names: frozenset[str], findings: Findings) -> None:
    if len(section.share_with) > MAX_SHARED:
        findings.add(place, f"{len(section.share_with)} names", f"at most {MAX_SHARED}")
    for at, name in enumerate(section.share_with):
        here = (*place, at)
        if findings.refused(here):
            continue
        if name == section.name:
            findings.add(here, f"{show(name)} is this target itself", "the name of another target")
        elif name not in names:
            findings.add(here, f"no target is named {show(name)}", "the name of another target")
        elif name in section.share_with[:at]:
            findings.add(here, f"{show(name)} stands here for the second time", "each name once")


def _parse_interval(raw: float | str) -> float:
    seconds = parse_duration(raw)
    if seconds < 1:
        raise RefusedError(f"{spell_duration(raw)} is too short", "1s or more")
    return seconds
