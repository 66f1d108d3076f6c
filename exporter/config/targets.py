"""From a target's section to a target, with the rules that bind several of its fields."""

import re
from dataclasses import dataclass

from exporter.config.backends import NOWHERE, listed, source_of
from exporter.config.files import Files
from exporter.config.problem import Findings, Place, RefusedError, show
from exporter.config.requests import http_settings
from exporter.config.schema import (
    DefaultsSection,
    ExpectSection,
    HttpSection,
    ProbeSection,
    TargetSection,
    TlsSection,
)
from exporter.config.times import target_times
from exporter.config.values import parse_duration, parse_endpoint, parse_host, spell_duration
from exporter.model.target import Endpoint, Expect, IdleScope, ProbeSettings, Target, TlsSettings, TlsVersion

_RESERVED_NAMES = ("reference", "reference-control")  # the built-in targets
_LABEL_NAME = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,127}")
OUR_LABELS = ("backend", "instance", "job", "le", "mode", "quantile", "target", "tls")
ATTACHED_LABELS = (
    "cluster",
    "container",
    "endpoint",
    "namespace",
    "node",
    "pod",
    "prometheus",
    "prometheus_replica",
    "service",
)
"""What Prometheus attaches in Kubernetes: our rules tell exporters apart by them, or drop them over replicas."""
_VERSIONS = {version.value: version for version in TlsVersion}
_MAX_PROTOCOLS = 16
_PROXY_PORT = 3128


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a target needs beside its section."""

    defaults: DefaultsSection
    files: Files
    findings: Findings


def target(section: TargetSection, place: Place, reading: Reading) -> Target:
    """Return the target; if anything was refused it is not fit for use, and `findings` says why."""
    findings = reading.findings
    endpoint = findings.read((*place, "address"), parse_endpoint, section.address, NOWHERE)
    interval, timeout = target_times(section, place, reading.defaults, findings)
    if section.starttls is not None and section.http != HttpSection():
        findings.add(
            (*place, "http"), f"a request is set, but {section.starttls} carries none", "no http with starttls"
        )
    return Target(
        name=findings.read((*place, "name"), _name, section.name, ""),
        endpoint=endpoint,
        server_name=_server_name(section, endpoint, place, findings),
        backends=listed(section, endpoint, place, findings),
        versions=_versions(section.tls, (*place, "tls", "versions"), findings),
        tls=_tls(section, (*place, "tls"), reading),
        http=http_settings(_http(section), (*place, "http"), reading.files, findings),
        probe=_probe(section.probe, (*place, "probe"), findings),
        expect=_expect(section.expect, (*place, "expect"), findings),
        interval=interval,
        timeout=timeout,
        labels=_labels(section, (*place, "labels"), findings),
        share_with=tuple(section.share_with),
        proxy=_proxy(section, place, findings),
        proxy_protocol=section.proxy_protocol,
        starttls=section.starttls,
        backends_from=source_of(section, place, findings),
    )


def _http(section: TargetSection) -> HttpSection:
    return section.http if section.starttls is None else HttpSection(enabled=False)


def _proxy(section: TargetSection, place: Place, findings: Findings) -> Endpoint | None:
    if section.proxy is None:
        return None
    return findings.read((*place, "proxy"), lambda raw: parse_endpoint(raw, _PROXY_PORT), section.proxy, None)


def _probe(section: ProbeSection, place: Place, findings: Findings) -> ProbeSettings:
    bound = findings.read((*place, "idle_bound"), _idle_bound, section.idle_bound, 0.0)
    return ProbeSettings(
        sample=section.sample,
        max_extra_connections=section.max_extra_connections,
        survival=section.survival,
        requests=section.requests if section.keepalive else 1,
        idle=section.idle if section.keepalive else IdleScope.OFF,
        idle_bound=bound,
        staple=section.staple,
        hello_splits=section.hello_splits,
        max_backends=section.max_backends,
    )


def _idle_bound(raw: float | str) -> float:
    seconds = parse_duration(raw)
    if seconds < 1:
        raise RefusedError(f"{spell_duration(raw)} is too short", "1s or more")
    return seconds


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


def _alpn(whole: TargetSection, place: Place, findings: Findings) -> tuple[str, ...]:
    """Return the protocols to offer; one that begins in clear would not know those of the web."""
    if whole.tls.alpn is None:
        return ("http/1.1",) if whole.starttls is None else ()
    if len(whole.tls.alpn) > _MAX_PROTOCOLS:
        findings.add((*place, "alpn"), f"{len(whole.tls.alpn)} protocols", f"at most {_MAX_PROTOCOLS}")
    return tuple(whole.tls.alpn)


def _tls(whole: TargetSection, place: Place, reading: Reading) -> TlsSettings:
    section, findings, files = whole.tls, reading.findings, reading.files
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
        verify=section.verify,
        ca_file=ca_file,
        cert_file=cert_file,
        key_file=key_file,
        alpn=_alpn(whole, place, findings),
        content=files.digest(section.ca_file, section.cert_file, section.key_file),
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
        elif name in OUR_LABELS:
            findings.add(here, "this label has a meaning of its own", f"any but {', '.join(OUR_LABELS)}")
        elif name in ATTACHED_LABELS:
            findings.add(here, "Prometheus attaches a label of that name", f"any but {', '.join(ATTACHED_LABELS)}")
        elif not value.isprintable():
            findings.add(here, f"{show(value)} holds characters that are not printable", "printable text")
    return tuple(section.labels.items())
