"""Envoy, which answers by itself."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program

_EXTENSIONS = "type.googleapis.com/envoy.extensions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Envoy is told.

    Attributes:
        ticket_keys: files of 80 bytes, the first of which encrypts; none make a key in the process.
        tickets: whether it gives any.
    """

    leaf: Leaf
    ticket_keys: tuple[Path, ...] = ()
    tickets: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run Envoy in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "envoy.json"
    configuration.write_text(json.dumps({"static_resources": {"listeners": [_listener(address, settings)]}}))
    command = [find_program("envoy"), "--config-path", str(configuration), "--concurrency", "1"]
    # Without hot restart it needs no shared memory, which two of them would fight for.
    return Server(address, [*command, "--disable-hot-restart", "--log-level", "warning"], folder)


def _listener(address: Address, settings: Settings) -> dict[str, Any]:
    return {
        "address": {"socket_address": {"address": address.host, "port_value": address.port}},
        "filter_chains": [
            {
                "filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": _http()}],
                "transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": _tls(settings)},
            }
        ],
    }


def _http() -> dict[str, Any]:
    route = {"match": {"prefix": "/"}, "direct_response": {"status": 200, "body": {"inline_string": "envoy\n"}}}
    router = {"@type": f"{_EXTENSIONS}.filters.http.router.v3.Router"}
    return {
        "@type": f"{_EXTENSIONS}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "site",
        "delayed_close_timeout": "0.05s",  # 1 s by default, which a client that reads until the end would wait
        "http_filters": [{"name": "envoy.filters.http.router", "typed_config": router}],
        "route_config": {"virtual_hosts": [{"name": "site", "domains": ["*"], "routes": [route]}]},
    }


def _tls(settings: Settings) -> dict[str, Any]:
    common = {
        "alpn_protocols": ["h2", "http/1.1"],
        "tls_certificates": [
            {
                "certificate_chain": {"filename": str(settings.leaf.certificate_file)},
                "private_key": {"filename": str(settings.leaf.key_file)},
            }
        ],
        "tls_params": {
            "tls_minimum_protocol_version": _protocol(min(settings.versions)),
            "tls_maximum_protocol_version": _protocol(max(settings.versions)),
        },
    }
    context: dict[str, Any] = {
        "@type": f"{_EXTENSIONS}.transport_sockets.tls.v3.DownstreamTlsContext",
        "common_tls_context": common,
    }
    if not settings.tickets:
        context["disable_stateless_session_resumption"] = True
    elif settings.ticket_keys:
        context["session_ticket_keys"] = {"keys": [{"filename": str(file)} for file in settings.ticket_keys]}
    return context


def _protocol(version: TlsVersion) -> str:
    return f"TLSv{version.replace('.', '_')}"
