"""Which backends a target has: a list of its own, or who gives one."""

from exporter.config.problem import Findings, Place, RefusedError, show
from exporter.config.schema import BackendsFromSection, TargetSection
from exporter.config.values import parse_endpoint, parse_host
from exporter.model.source import KubernetesService, SrvName
from exporter.model.target import Endpoint

NOWHERE = Endpoint("", 0)
"""Stands for an address that was refused."""


def listed(section: TargetSection, endpoint: Endpoint, place: Place, findings: Findings) -> tuple[Endpoint, ...]:
    """Return the backends that the target lists itself, each once."""
    backends: list[Endpoint] = []
    for at, text in enumerate(section.backends):
        here = (*place, "backends", at)
        backend = findings.read(here, lambda raw: parse_endpoint(raw, endpoint.port), text, NOWHERE)
        if backend in backends and backend != NOWHERE:
            findings.add(here, f"{backend} stands here for the second time", "each backend once")
        backends.append(backend)
    return tuple(backends)


def source_of(section: TargetSection, place: Place, findings: Findings) -> SrvName | KubernetesService | None:
    """Return who lists the backends, None where it is the target's name or the target itself."""
    here = (*place, "backends_from")
    source = section.backends_from
    if source is None or findings.refused(here):
        return None
    if section.backends:
        findings.add(here, "backends are listed too", "backends or backends_from")
    if (source.srv is None) is (source.kubernetes is None):
        findings.add(here, "both" if source.srv else "an empty mapping", "srv or kubernetes")
    return _source(source, here, findings)


def _source(section: BackendsFromSection, place: Place, findings: Findings) -> SrvName | KubernetesService | None:
    if section.srv is not None:
        return SrvName(findings.read((*place, "srv"), _parse_srv, section.srv, ""))
    if (service := section.kubernetes) is None:
        return None
    return KubernetesService(service.service, service.port, service.namespace)


def _parse_srv(text: str) -> str:
    """Return the name without a dot at its end (RFC 2782: `_service._protocol.name`)."""
    name = parse_host(text).removesuffix(".")
    labels = name.split(".")
    if len(labels) < 3 or not (labels[0].startswith("_") and labels[1].startswith("_")):
        raise RefusedError(
            f"{show(text)} is no name of SRV records", "_SERVICE._PROTOCOL.NAME, such as _https._tcp.shop.example.com"
        )
    return name
