"""The HTTP request of a target: what a header may be, and what belongs to the prober itself."""

import re

from exporter.config.files import Files
from exporter.config.kinds import SecretSection
from exporter.config.problem import Findings, Place, RefusedError
from exporter.config.schema import HttpSection
from exporter.model.target import HttpSettings

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")  # RFC 9110 section 5.6.2
_FIELD_VALUE = re.compile(r"(?:[!-~](?:[ \t!-~]{0,8190}[!-~])?)?")  # RFC 9110 section 5.5, ASCII alone
_OURS = frozenset(
    {"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)


def http_settings(section: HttpSection, place: Place, files: Files, findings: Findings) -> HttpSettings:
    """Return the request's settings, with secrets read from their files."""
    headers: list[tuple[str, str]] = []
    seen: set[str] = set()
    for name, raw in section.headers.items():
        here = (*place, "headers", name)
        if name.lower() in seen:
            findings.add(here, "stands here for the second time, in other letters", "each header once")
        seen.add(name.lower())
        known = findings.read(here, _header_name, name, "")
        headers.append((known, findings.read(here, lambda value: _header_value(value, files), raw, "")))
    return HttpSettings(
        enabled=section.enabled,
        method=section.method,
        path=section.path,
        host=section.host,
        headers=tuple(headers),
        expect_status=tuple(dict.fromkeys(section.expect_status)),
        large_path=section.large_path,
        large_bytes=section.large_bytes,
    )


def _header_name(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise RefusedError("no header name", "1 to 128 letters, digits and !#$%&'*+-.^_`|~")
    if name.lower() in _OURS:
        raise RefusedError("this header is the prober's own", "`http.host` for Host; the others cannot be set")
    return name


def _header_value(raw: str | SecretSection, files: Files) -> str:
    value = raw if isinstance(raw, str) else files.secret(raw.file)
    if not _FIELD_VALUE.fullmatch(value):
        raise RefusedError(
            "the value holds a line break or another character that a header cannot have",
            "up to 8192 visible ASCII characters, with spaces and tabs only between them",
        )
    return value
