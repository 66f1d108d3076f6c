"""lighttpd, over whichever of its TLS libraries."""

import struct
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program

_MODULES = Path("/usr/lib/lighttpd")
_FAR_FUTURE = 2**31 - 1  # the year 2038, the last that fits


class Library(StrEnum):
    """The TLS library, by its module's name."""

    OPENSSL = "mod_openssl"
    MBEDTLS = "mod_mbedtls"
    NSS = "mod_nss"
    WOLFSSL = "mod_wolfssl"

    @property
    def file(self) -> str:
        """The path of the module, which has a Debian package of its own."""
        return str(_MODULES / f"{self}.so")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What lighttpd is told.

    Attributes:
        ticket_key: the 80 bytes of `ssl.stek-file`; None makes a key in the process.
        tickets: whether it gives any; lighttpd keeps no sessions.
    """

    leaf: Leaf
    library: Library = Library.OPENSSL
    ticket_key: bytes | None = None
    tickets: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run lighttpd in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "lighttpd.conf"
    configuration.write_text(_configuration(folder, address, settings))
    return Server(address, (find_program("lighttpd"), "-D", "-f", str(configuration), "-m", str(_MODULES)), folder)


def _configuration(folder: Path, address: Address, settings: Settings) -> str:
    commands = {
        "MinProtocol": f"TLSv{min(settings.versions)}",
        "MaxProtocol": f"TLSv{max(settings.versions)}",
        **({} if settings.tickets else {"Options": "-SessionTicket"}),
    }
    return f"""\
server.document-root = "{folder}"
server.bind = "{f"[{address.host}]" if ":" in address.host else address.host}"
server.port = {address.port}
server.modules = ("mod_status", "{settings.library}")
status.status-url = "/"
ssl.engine = "enable"
ssl.pemfile = "{settings.leaf.certificate_file}"
ssl.privkey = "{settings.leaf.key_file}"
ssl.openssl.ssl-conf-cmd = ({", ".join(f'"{name}" => "{value}"' for name, value in commands.items())})
{_ticket_key(folder, settings.ticket_key) if settings.ticket_key else ""}
"""


def _ticket_key(folder: Path, key: bytes) -> str:
    """Write the key in lighttpd's format: version, begin and end in seconds, 32 bits of the machine's order each."""
    file = folder / "ticket.key"
    file.write_bytes(struct.pack("=iii", 0, 0, _FAR_FUTURE) + key)
    return f'ssl.stek-file = "{file}"'
