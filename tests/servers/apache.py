"""Apache httpd, whose ticket key is one and whose graceful restart drops the key that it made itself."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program

_MODULES = Path("/usr/lib/apache2/modules")
_LOADED = ("mpm_event", "authz_core", "socache_shmcb", "ssl", "status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Apache is told.

    Attributes:
        ticket_key: a file of 48 bytes for SSLSessionTicketKeyFile; None makes a key in the process.
        tickets: SSLSessionTickets; without them TLS 1.3 still gives tickets, which only name a cached session.
        cache: whether sessions are kept.
        extra: more directives for the virtual host.
    """

    leaf: Leaf
    ticket_key: Path | None = None
    tickets: bool = True
    cache: bool = False
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)
    extra: str = ""


class Apache(Server):
    """A parent and its children."""

    def reload(self, settings: Settings) -> None:
        """Restart gracefully with new settings, and wait until only new children are left.

        Raises:
            ServerError: Apache refused the settings, or the old children stayed.
        """
        _write_configuration(self.folder, self.address, settings)
        self.replace_children(signal.SIGUSR1)


def start(folder: Path, address: Address, settings: Settings) -> Apache:
    """Run Apache in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = _write_configuration(folder, address, settings)
    command = (find_program("apache2"), "-D", "FOREGROUND", "-d", str(folder), "-f", str(configuration))
    return Apache(address, command, folder, children=1)


def _write_configuration(folder: Path, address: Address, settings: Settings) -> Path:
    modules = "".join(f"LoadModule {name}_module {_MODULES / f'mod_{name}.so'}\n" for name in _LOADED)
    cache = f"shmcb:{folder / 'sessions'}(512000)" if settings.cache else "none"
    user = "User nobody\nGroup nogroup" if os.geteuid() == 0 else ""
    file = folder / "apache.conf"
    file.write_text(f"""\
{modules}
{user}
ServerName site.test
DefaultRuntimeDir {folder}
PidFile {folder / "apache.pid"}
ErrorLog /dev/stderr
StartServers 1
MinSpareThreads 1
ThreadsPerChild 25
Listen {address} https
SSLSessionCache {cache}
<VirtualHost *:*>
SSLEngine on
SSLCertificateFile {settings.leaf.certificate_file}
SSLCertificateKeyFile {settings.leaf.key_file}
SSLProtocol {" ".join(f"+TLSv{version}" for version in settings.versions)}
SSLSessionTickets {"on" if settings.tickets else "off"}
{f"SSLSessionTicketKeyFile {settings.ticket_key}" if settings.ticket_key else ""}
{settings.extra}
<Location />
SetHandler server-status
</Location>
</VirtualHost>
""")
    return file
