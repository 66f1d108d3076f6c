"""Traefik, which answers its own health check to every request."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program
from tests.servers.visit import answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Traefik is told; its ticket key is always its own.

    Attributes:
        tickets: whether it gives any; Traefik keeps no sessions.
    """

    leaf: Leaf
    tickets: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


class Traefik(Server):
    """One process, which listens before it has read the certificate and the route."""

    def _await_start(self) -> None:
        super()._await_start()
        try:
            self.wait_until(lambda: answers(self.address), "route")
        except BaseException:
            self.stop()
            raise


def start(folder: Path, address: Address, settings: Settings) -> Traefik:
    """Run Traefik in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    site, static = folder / "site.yml", folder / "traefik.yml"  # JSON is YAML, too
    site.write_text(json.dumps(_site(settings)))
    static.write_text(json.dumps(_static(address, site)))
    return Traefik(address, (find_program("traefik"), f"--configfile={static}"), folder)


def _static(address: Address, site: Path) -> dict[str, Any]:
    return {
        "global": {"checkNewVersion": False, "sendAnonymousUsage": False},
        "entryPoints": {"site": {"address": str(address), "transport": {"lifeCycle": {"graceTimeOut": "0s"}}}},
        "providers": {"file": {"filename": str(site), "watch": False}},
        "ping": {"manualRouting": True},
        "log": {"level": "WARN"},
    }


def _site(settings: Settings) -> dict[str, Any]:
    leaf = {"certFile": str(settings.leaf.certificate_file), "keyFile": str(settings.leaf.key_file)}
    options = {
        "minVersion": _protocol(min(settings.versions)),
        "maxVersion": _protocol(max(settings.versions)),
        "disableSessionTickets": not settings.tickets,
    }
    router = {"entryPoints": ["site"], "rule": "PathPrefix(`/`)", "service": "ping@internal", "tls": {}}
    return {
        "http": {"routers": {"site": router}},
        "tls": {"stores": {"default": {"defaultCertificate": leaf}}, "options": {"default": options}},
    }


def _protocol(version: TlsVersion) -> str:
    return f"VersionTLS{version.replace('.', '')}"
