"""From the sections of sources to their settings, with the rules that bind several fields."""

from pathlib import PurePath
from urllib.parse import urlsplit

from exporter.config.files import Files
from exporter.config.problem import Findings, Place, RefusedError, show
from exporter.config.requests import http_settings
from exporter.config.schema import DiscoverSection, Document, HttpSection
from exporter.config.settings import ListingUrl, SourceSettings
from exporter.config.template import Template
from exporter.config.values import parse_duration, spell_duration

_RESERVED = ("configuration",)  # the source of the targets in the configuration itself
_FILE_REFRESH, _URL_REFRESH = 5.0, 60.0


def sources(document: Document, files: Files, findings: Findings) -> tuple[SourceSettings, ...]:
    """Return the sources; if anything was refused they are not fit for use, and `findings` says why."""
    found: list[SourceSettings] = []
    first: dict[str, int] = {}
    for at, section in enumerate(document.discover):
        place: Place = ("discover", at)
        template = Template(section.target, document.defaults, files.folder)
        template.specimen((*place, "target"), findings, files)
        name = findings.read((*place, "name"), _name, section.name, "")
        twin = first.setdefault(name, at)
        if twin != at and not findings.refused((*place, "name")):
            findings.add((*place, "name"), f"{show(name)} is the name of discover[{twin}] too", "a name of its own")
        where = _place(section, place, files, findings)
        refresh = _refresh(section, place, findings)
        found.append(SourceSettings(name, where, refresh, section.max_targets, template))
    return tuple(found)


def _name(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise RefusedError(
            f"{show(text)} holds characters that are not printable, or spaces at an end", "printable text"
        )
    if text in _RESERVED:
        raise RefusedError("this name is taken by the configuration itself", "any other name")
    return text


def _place(section: DiscoverSection, place: Place, files: Files, findings: Findings) -> str | ListingUrl:
    given = [name for name in ("file", "url") if getattr(section, name) is not None]
    if not findings.refused(place) and len(given) != 1:
        findings.add(place, "both file and url" if given else "neither file nor url", "file or url")
    if section.url is None:
        for name in ("headers", "ca_file"):
            if getattr(section, name):
                findings.add((*place, name), "stands without url", "url beside it")
        return findings.read((*place, "file"), lambda raw: _pattern(raw, files), section.file or "", "")
    ca_file = None
    if section.ca_file is not None:
        ca_file = findings.read((*place, "ca_file"), files.trust, section.ca_file, None)
    url = findings.read((*place, "url"), _url, section.url, "")
    headers = http_settings(HttpSection(headers=section.headers), place, files, findings).headers
    return ListingUrl(url, headers, ca_file)


def _pattern(raw: str, files: Files) -> str:
    path = PurePath(raw)
    if any(mark in part for part in path.parts[:-1] for mark in "*?["):
        raise RefusedError(f"{show(raw)} has a wildcard in the name of a folder", "wildcards in the last part alone")
    return files.locate(raw)


def _url(raw: str) -> str:
    try:
        parts = urlsplit(raw)
        port_holds = parts.port != 0
    except ValueError:
        raise RefusedError(f"{show(raw)} is no URL", "http://HOST[:PORT]/PATH or https://") from None
    if not parts.hostname or not port_holds:
        raise RefusedError(f"{show(raw)} is no URL", "http://HOST[:PORT]/PATH or https://")
    if "@" in parts.netloc:
        raise RefusedError("the URL holds a user or a password", "a header, such as Authorization: {file: PATH}")
    return raw


def _refresh(section: DiscoverSection, place: Place, findings: Findings) -> float:
    if section.refresh is None:
        return _FILE_REFRESH if section.url is None else _URL_REFRESH
    return findings.read((*place, "refresh"), _parse_refresh, section.refresh, 0.0)


def _parse_refresh(raw: float | str) -> float:
    seconds = parse_duration(raw)
    if seconds < 1:
        raise RefusedError(f"{spell_duration(raw)} is too short", "1s or more")
    return seconds
