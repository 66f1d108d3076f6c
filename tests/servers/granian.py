"""Granian, whose TLS is rustls with that library's own defaults."""

from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Granian is told; it speaks TLS 1.3 in any case.

    Attributes:
        workers: processes that serve connections.
        versions: the lowest of them is what counts.
    """

    leaf: Leaf
    workers: int = 1
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run Granian in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [find_program("granian"), "--interface", "asginl", "--host", address.host, "--port", str(address.port)]
    command += ["--ssl-certificate", str(settings.leaf.certificate_file), "--ssl-keyfile", str(settings.leaf.key_file)]
    command += ["--ssl-protocol-min", f"tls{min(settings.versions)}", "--workers", str(settings.workers)]
    command += ["--working-dir", str(Path(__file__).parent), "granian_site:application"]
    return Server(address, command, folder)
