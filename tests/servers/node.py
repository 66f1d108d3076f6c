"""Node's own HTTPS server."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program

_SCRIPT = Path(__file__).with_name("node.js")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Node is told.

    Attributes:
        ticket_key: the 48 bytes of `ticketKeys`; None makes a key in the process.
        session_context: `sessionIdContext`. Tickets of another context are refused although the key is shared; Node's
            own default is a hash of the command line, so that two ports on one machine never share.
        http2: whether it speaks HTTP/2, too.
    """

    leaf: Leaf
    ticket_key: bytes | None = None
    session_context: str = "site"
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)
    http2: bool = False


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run Node in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    arguments = {
        "certificate": str(settings.leaf.certificate_file),
        "key": str(settings.leaf.key_file),
        "host": address.host,
        "port": address.port,
        "sessionIdContext": settings.session_context,
        "minVersion": f"TLSv{min(settings.versions)}",
        "maxVersion": f"TLSv{max(settings.versions)}",
        "http2": settings.http2,
        "ticketKeys": settings.ticket_key and base64.b64encode(settings.ticket_key).decode(),
    }
    return Server(address, (find_program("node"), str(_SCRIPT), json.dumps(arguments)), folder)
