"""From a target's section to a target, with the rules that bind several of its fields."""

import re
from dataclasses import dataclass

from exporter.config.files import Files
from exporter.config.problem import Findings, Place, RefusedError, show
from exporter.config.requests import http_settings
from exporter.config.schema import DefaultsSection, ExpectSection, TargetSection, TlsSection
from exporter.config.times import target_times
from exporter.config.values import parse_duration, parse_endpoint, parse_host, spell_duration
from exporter.model.target import Endpoint, Expect, ProbeSettings, Target, TlsSettings, TlsVersion

_RESERVED_NAMES = ("reference", "reference-control")  # the built-in targets
_LABEL_NAME = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,127}")
_RESERVED_LABELS = ("backend", "instance", "job", "le", "mode", "quantile", "target", "tls")
_VERSIONS = {version.value: version for version in TlsVersion}
_MAX_PROTOCOLS = 16
_NOWHERE = Endpoint("", 0)


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a target needs beside its section."""

    defaults: DefaultsSection
    files: Files
    findings: Findings


def target(section: TargetSection, place: Place, reading: Reading) -> Target:
    """Return the target; if anything was refused it is not fit for use, and `findings` says why."""
    findings = reading.findings
    endpoint = findings.read((*place, "address"), parse_endpoint, section.address, _NOWHERE)
    interval, timeout = target_times(section, place, reading.defaults, findings)
    if section.http.enabled and "h2" in section.tls.alpn:
        found = "h2 is offered, but the request is sent as HTTP/1.1"
        findings.add((*place, "tls", "alpn"), found, "http/1.1, or h2 with http.enabled: false")
    return Target(
        name=findings.read((*place, "name"), _name, section.name, ""),
        endpoint=endpoint,
        server_name=_server_name(section, endpoint, place, findings),
        backends=_backends(section, endpoint, place, findings),
        versions=_versions(section.tls, (*place, "tls", "versions"), findings),
        tls=_tls(section.tls, (*place, "tls"), reading),
        http=http_settings(section.http, (*place, "http"), reading.files, findings),
        probe=ProbeSettings(section.probe.sample, section.probe.max_extra_connections, section.probe.survival),
        expect=_expect(section.expect, (*place, "expect"), findings),
        interval=interval,
        timeout=timeout,
        labels=_labels(section, (*place, "labels"), findings),
        share_with=tuple(section.share_with),
    )


def _name(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise RefusedError(
            f"{show(text)} holds characters that are not printable, or spaces at an end", "printable text"
        )
    if text in _RESERVED_NAMES:
        raise RefusedError("this name is taken by a built-in target", "any other name")
    return text


def _server_name(section: TargetSection, endpoint: Endpoint, place: Place, findings: Findings) -> str:
    if section.server_name is None:
        return endpoint.host.removesuffix(".")  # RFC 6066 section 3: SNI has no dot at its end
    name = findings.read((*place, "server_name"), parse_host, section.server_name, "")
    return name.removesuffix(".")


def _backends(section: TargetSection, endpoint: Endpoint, place: Place, findings: Findings) -> tuple[Endpoint, ...]:
    backends: list[Endpoint] = []
    for at, text in enumerate(section.backends):
        here = (*place, "backends", at)
        backend = findings.read(here, lambda raw: parse_endpoint(raw, endpoint.port), text, _NOWHERE)
        if backend in backends and backend != _NOWHERE:
            findings.add(here, f"{backend} stands here for the second time", "each backend once")
        backends.append(backend)
    return tuple(backends)


def _versions(section: TlsSection, place: Place, findings: Findings) -> tuple[TlsVersion, ...]:
    versions: list[TlsVersion] = []
    if not section.versions and not findings.refused(place):
        findings.add(place, "an empty list", '"1.2", "1.3" or both')
    for at, raw in enumerate(section.versions):
        if findings.refused((*place, at)):
            continue
        version = _VERSIONS.get(str(raw))
        if version is None:
            shown = show(raw) if isinstance(raw, str) else f"{raw:g}"
            findings.add((*place, at), f"{shown} is no TLS version that is probed", '"1.2" or "1.3"')
        elif version in versions:
            findings.add((*place, at), f"{version} stands here for the second time", "each version once")
        else:
            versions.append(version)
    return tuple(versions)


def _tls(section: TlsSection, place: Place, reading: Reading) -> TlsSettings:
    findings, files = reading.findings, reading.files
    if len(section.alpn) > _MAX_PROTOCOLS:
        findings.add((*place, "alpn"), f"{len(section.alpn)} protocols", f"at most {_MAX_PROTOCOLS}")
    ca_file = cert_file = key_file = None
    if section.ca_file is not None:
        ca_file = findings.read((*place, "ca_file"), files.trust, section.ca_file, None)
    if section.cert_file is not None and section.key_file is not None:
        pair = (section.cert_file, section.key_file)
        cert_file, key_file = findings.read((*place, "cert_file"), lambda names: files.identity(*names), pair, pair)
    else:
        for name, other in (("cert_file", "key_file"), ("key_file", "cert_file")):
            alone = getattr(section, name) is not None and not findings.refused((*place, other))
            if alone:
                findings.add((*place, name), f"stands without {other}", "both or neither")
    return TlsSettings(
        verify=section.verify, ca_file=ca_file, cert_file=cert_file, key_file=key_file, alpn=tuple(section.alpn)
    )


def _expect(section: ExpectSection, place: Place, findings: Findings) -> Expect:
    def promise(name: str, raw: float | str | None) -> float | None:
        return None if raw is None else findings.read((*place, name), _promise, raw, 0.0)

    return Expect(
        resumption=section.resumption,
        min_backends=section.min_backends,
        rotation=promise("rotation", section.rotation),
        ticket_life=section.ticket_life,
        keepalive_idle=promise("keepalive_idle", section.keepalive_idle),
    )


def _promise(raw: float | str) -> float:
    seconds = parse_duration(raw)
    if seconds == 0:
        raise RefusedError(f"{spell_duration(raw)} promises nothing", "more than 0s")
    return seconds


def _labels(section: TargetSection, place: Place, findings: Findings) -> tuple[tuple[str, str], ...]:
    for name, value in section.labels.items():
        here = (*place, name)
        if not _LABEL_NAME.fullmatch(name):
            findings.add(here, "no label name", "letters, digits and _, no digit first, no __ first")
        elif name in _RESERVED_LABELS:
            findings.add(here, "this label has a meaning of its own", f"any but {', '.join(_RESERVED_LABELS)}")
        elif not value.isprintable():
            findings.add(here, f"{show(value)} holds characters that are not printable", "printable text")
    return tuple(section.labels.items())
