"""The one server that all clients of a benchmark are pointed at: nginx with a single worker on a core of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from exporter.model.target import Address
from tests.bench.client import SERVER_CORE
from tests.servers import nginx
from tests.servers.certificates import Authority
from tests.servers.ports import Ports

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Site:
    """A running nginx.

    Attributes:
        status: where it tells its counters in clear, by ngx_http_stub_status_module.
        folder: for the files of whoever uses it.
    """

    address: Address
    status: Address
    authority: Authority
    ports: Ports
    folder: Path

    def free_address(self) -> Address:
        """Give an address at which nothing listens, for another server."""
        return Address(HOST, self.ports.claim())


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """Run nginx with a certificate on P-256, tickets and no session cache."""
    authority = Authority.create(folder, datetime.now(UTC))
    leaf = authority.issue("leaf", now=datetime.now(UTC))
    ports = Ports()
    try:
        address, status = Address(HOST, ports.claim()), Address(HOST, ports.claim())
        settings = nginx.Settings(leaf=leaf, http=f"server {{ listen {status}; location / {{ stub_status; }} }}")
        with nginx.start(folder / "nginx", address, settings) as running:
            for worker in running.children:
                os.sched_setaffinity(worker, {SERVER_CORE})
            yield Site(address, status, authority, ports, folder)
    finally:
        ports.close()
