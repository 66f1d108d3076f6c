"""PostgreSQL, with a fresh cluster."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.lodging import Lodger, Lodging

_CLUSTER_SECONDS = 60


def _programs() -> Path:
    """Return the folder of the newest version that is installed; Debian keeps it out of every PATH."""
    found = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    return max((file.parent for file in found), key=lambda folder: int(folder.parent.name), default=Path("/missing"))


PROGRAM = str(_programs() / "postgres")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What PostgreSQL is told.

    Attributes:
        tls: whether it says yes to an SSLRequest.
    """

    leaf: Leaf
    tls: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Lodger:
    """Make a cluster and serve it; its log is in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    lodging = Lodging()
    data = lodging.make_folder("data")
    initialise = (*lodging.prefix, str(_programs() / "initdb"), "--no-sync", "-A", "trust", "-U", "tlsprobe", str(data))
    subprocess.run(initialise, check=True, timeout=_CLUSTER_SECONDS, capture_output=True, cwd="/")
    values = {
        "listen_addresses": address.host,
        "port": address.port,
        "unix_socket_directories": "",
        "fsync": "off",
        "ssl": "on" if settings.tls else "off",
        "ssl_cert_file": lodging.adopt(settings.leaf.certificate_file),
        "ssl_key_file": lodging.adopt(settings.leaf.key_file),
        "ssl_min_protocol_version": f"TLSv{min(settings.versions)}",
        "ssl_max_protocol_version": f"TLSv{max(settings.versions)}",
    }
    words = [word for name, value in values.items() for word in ("-c", f"{name}={value}")]
    return Lodger(address, (PROGRAM, "-D", str(data), *words), folder, lodging)
