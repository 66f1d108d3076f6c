"""What the tests of fleets share."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.fleets.starting import StartFleet
from tests.servers import fleet, nginx
from tests.servers.nginx import Nginx, Settings
from tests.servers.ports import Ports
from tests.servers.ticket_keys import write_ticket_key


@pytest.fixture
def start_fleet(tmp_path: Path, ports: Ports) -> StartFleet:
    """Start nginx at 127.0.0.2, .3 and so on, one for each of the settings."""

    def start(settings: Sequence[Settings]) -> AbstractContextManager[tuple[Nginx, ...]]:
        where = fleet.addresses(ports.claim(), len(settings))
        return fleet.start(nginx.start, tmp_path / "fleet", where, settings)

    return start


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    """Two ticket key files."""
    return write_ticket_key(tmp_path, "one"), write_ticket_key(tmp_path, "two")
