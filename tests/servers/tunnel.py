"""A server that only unwraps TLS, together with the plain one behind it."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from exporter.model.target import Address
from tests.servers.plain import Plain
from tests.servers.process import Server


class Tunnel(Server):
    """The process that unwraps, and a plain server in this process that lives as long as it does."""

    def __init__(self, address: Address, folder: Path, command: Callable[[int], Sequence[str]]) -> None:
        """Start both; `command` is made from the plain server's port on 127.0.0.1.

        Raises:
            ServerError: as any server.
        """
        self._plain = Plain()
        super().__init__(address, command(self._plain.port), folder)

    def stop(self) -> None:
        """End both; does nothing where they have ended."""
        super().stop()
        self._plain.close()

    def _launch(self) -> subprocess.Popen[bytes]:
        self._plain.open()
        return super()._launch()
