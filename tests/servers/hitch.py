"""Hitch, a proxy that unwraps TLS and knows no settings for its ticket key."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import find_program
from tests.servers.tunnel import Tunnel


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Hitch is told; it always gives tickets, under a key that its workers have in common and nobody else has.

    Attributes:
        workers: processes that serve connections.
    """

    leaf: Leaf
    workers: int = 1
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


class Hitch(Tunnel):
    """A parent, which lets connections wait that it then resets, and its workers."""

    def _launch(self) -> subprocess.Popen[bytes]:
        self._online = self._count_online() + 1
        return super()._launch()

    def _await_start(self) -> None:
        super()._await_start()
        try:
            self.wait_until(lambda: self._count_online() >= self._online, "workers")
        except BaseException:
            self.stop()
            raise

    def _count_online(self) -> int:
        return self.log.count("{core} Process 0 online")  # logged once for each start, when the first worker is there


def start(folder: Path, address: Address, settings: Settings) -> Hitch:
    """Run Hitch in this folder, which is made where it is missing, before a plain server."""
    folder.mkdir(parents=True, exist_ok=True)

    def command(port: int) -> list[str]:
        configuration = folder / "hitch.conf"
        configuration.write_text(_configuration(address, settings, port))
        return [find_program("hitch"), f"--config={configuration}"]

    return Hitch(address, folder, command)


def _configuration(address: Address, settings: Settings, port: int) -> str:
    return f"""\
frontend = "[{address.host}]:{address.port}"
backend = "[127.0.0.1]:{port}"
pem-file = "{settings.leaf.combined_file}"
workers = {settings.workers}
tls-protos = {" ".join(f"TLSv{version}" for version in settings.versions)}
ocsp-dir = ""
log-level = 1
{'user = "nobody"' if os.geteuid() == 0 else ""}
"""
