"""stunnel, a proxy that unwraps TLS."""

from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import find_program
from tests.servers.tunnel import Tunnel


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What stunnel is told.

    Attributes:
        ticket_key: 64 bytes, of which 32 encrypt and 32 authenticate; None makes a key in the process.
        tickets: without them sessions are cached; TLS 1.3 still gives tickets, which only name a cached session.
        resumption: `sessionResume`; without it nothing resumes.
    """

    leaf: Leaf
    ticket_key: bytes | None = None
    tickets: bool = True
    resumption: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Tunnel:
    """Run stunnel in this folder, which is made where it is missing, before a plain server."""
    folder.mkdir(parents=True, exist_ok=True)

    def command(port: int) -> list[str]:
        configuration = folder / "stunnel.conf"
        configuration.write_text(_configuration(address, settings, port))
        return [find_program("stunnel4"), str(configuration)]

    return Tunnel(address, folder, command)


def _configuration(address: Address, settings: Settings, port: int) -> str:
    key = settings.ticket_key
    return f"""\
foreground = yes
syslog = no
pid =
[site]
accept = {address.host}:{address.port}
connect = 127.0.0.1:{port}
cert = {settings.leaf.certificate_file}
key = {settings.leaf.key_file}
sslVersionMin = TLSv{min(settings.versions)}
sslVersionMax = TLSv{max(settings.versions)}
options = {"-NO_TICKET" if settings.tickets else "NO_TICKET"}
sessionResume = {"yes" if settings.resumption else "no"}
{f"ticketKeySecret = {key[:32].hex()}" if key else ""}
{f"ticketMacSecret = {key[32:64].hex()}" if key else ""}
"""
