"""H2O, whose ticket keys are its own, while tickets are OpenSSL's."""

import hashlib
import json
import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program
from tests.servers.visit import visit

_KEY_BYTES = 96  # 32 for AES-256 and a whole block of SHA-256
_FAR_FUTURE = 4102444800  # the year 2100
_MODES = {(True, True): "all", (True, False): "ticket", (False, True): "cache", (False, False): "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What H2O is told; it speaks TLS 1.3 in any case, whatever its settings say, and TLS 1.2 beside it here.

    Attributes:
        ticket_key: a secret from which key and name are derived; None makes a key in the process.
        tickets: whether it gives any.
        cache: whether sessions are kept.
    """

    leaf: Leaf
    ticket_key: bytes | None = None
    tickets: bool = True
    cache: bool = False


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run H2O in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "h2o.json"  # JSON is YAML, too
    resumption: dict[str, str] = {"mode": _MODES[settings.tickets, settings.cache]}
    if settings.ticket_key is not None:
        resumption |= {"ticket-store": "file", "ticket-file": str(_write_ticket_key(folder, settings.ticket_key))}
    configuration.write_text(json.dumps(_configuration(address, settings, resumption)))
    server = Server(address, (find_program("h2o"), "--mode", "worker", "--conf", str(configuration)), folder)
    try:
        if settings.tickets:
            server.wait_until(lambda: _resumes(address), "ticket key")
    except BaseException:
        server.stop()
        raise
    return server


def _configuration(address: Address, settings: Settings, resumption: dict[str, str]) -> dict[str, object]:
    tls = {
        "certificate-file": str(settings.leaf.certificate_file),
        "key-file": str(settings.leaf.key_file),
        "neverbleed": "OFF",
    }
    return {
        **({"user": "root"} if os.geteuid() == 0 else {}),
        "num-threads": 1,
        "ssl-session-resumption": resumption,
        "listen": {"host": address.host, "port": address.port, "ssl": tls},
        "hosts": {"default": {"paths": {"/": {"status": "ON"}}}},
    }


def _write_ticket_key(folder: Path, secret: bytes) -> Path:
    file = folder / "ticket.keys"
    key = {
        "name": secret[:16].hex(),
        "cipher": "AES-256-CBC",
        "hash": "SHA-256",
        "key": hashlib.shake_256(secret).hexdigest(_KEY_BYTES),
        "not_before": 0,
        "not_after": _FAR_FUTURE,
    }
    file.write_text(json.dumps([key]))
    return file


def _resumes(address: Address) -> bool:
    """Tell whether a session is taken back, which it is not in the moment before H2O's key thread has begun."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return visit(address, context, visit(address, context).session).resumed
