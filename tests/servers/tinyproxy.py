"""tinyproxy, an HTTP proxy that makes tunnels."""

from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address
from tests.servers.process import Server, find_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What tinyproxy is told.

    Attributes:
        tunnel_ports: those to which it makes tunnels; none is any.
        password: what it wants of clients, if anything.
    """

    tunnel_ports: tuple[int, ...] = ()
    password: str | None = None


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run tinyproxy in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "tinyproxy.conf"
    configuration.write_text(
        f"Port {address.port}\nListen {address.host}\nTimeout 10\n"
        + "".join(f"ConnectPort {port}\n" for port in settings.tunnel_ports)
        + (f"BasicAuth somebody {settings.password}\n" if settings.password else "")
    )
    return Server(address, (find_program("tinyproxy"), "-d", "-c", str(configuration)), folder)
