"""gnutls-serv, which answers HTTP/1.0."""

from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What gnutls-serv is told; its ticket key is always its own.

    Attributes:
        tickets: whether it gives any; in TLS 1.2 it keeps sessions all the same, unless `cache` is off, too.
        cache: whether it keeps sessions.
    """

    leaf: Leaf
    tickets: bool = True
    cache: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run gnutls-serv in this folder, which is made where it is missing.

    It listens on every address, whatever the host of `address` is, so each one needs a port of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    versions = "".join(f":+VERS-TLS{version}" for version in settings.versions)
    command = [find_program("gnutls-serv"), "--http", "--quiet", "--port", str(address.port), "--disable-client-cert"]
    command += ["--x509certfile", str(settings.leaf.certificate_file), "--x509keyfile", str(settings.leaf.key_file)]
    command += ["--priority", f"NORMAL:-VERS-ALL{versions}"]
    if not settings.tickets:
        command.append("--noticket")
    if not settings.cache:
        command.append("--nodb")
    return Server(address, command, folder)
