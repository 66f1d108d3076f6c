"""Caddy, without its administration endpoint and without automatic HTTPS."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Caddy is told.

    Attributes:
        shared_folder: where several Caddys keep one set of ticket keys (their key source `distributed`); None makes
            keys in the process.
        tickets: whether it gives any; Caddy keeps no sessions.
    """

    leaf: Leaf
    shared_folder: Path | None = None
    tickets: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run Caddy in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "caddy.json"
    configuration.write_text(json.dumps(_configuration(address, settings)))
    return Server(address, (find_program("caddy"), "run", "--config", str(configuration)), folder)


def _configuration(address: Address, settings: Settings) -> dict[str, Any]:
    site = {
        "listen": [str(address)],
        "protocols": ["h1", "h2"],
        "automatic_https": {"disable": True},
        "routes": [{"handle": [{"handler": "static_response", "body": "caddy\n"}]}],
        "tls_connection_policies": [
            {"protocol_min": f"tls{min(settings.versions)}", "protocol_max": f"tls{max(settings.versions)}"}
        ],
    }
    tls: dict[str, Any] = {
        "certificates": {
            "load_files": [
                {"certificate": str(settings.leaf.certificate_file), "key": str(settings.leaf.key_file)},
            ]
        },
        "session_tickets": {"disabled": not settings.tickets},
    }
    if settings.shared_folder is not None:
        storage = {"module": "file_system", "root": str(settings.shared_folder)}
        tls["session_tickets"]["key_source"] = {"provider": "distributed", "storage": storage}
    return {
        "admin": {"disabled": True, "config": {"persist": False}},
        "apps": {"http": {"grace_period": "1s", "servers": {"site": site}}, "tls": tls},
    }
