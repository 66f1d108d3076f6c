"""What all tests share: throwaway certificates, free ports, and the rule for servers that are not installed."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports
from tests.servers.process import MissingProgramError, find_program

REQUIRE_SERVERS = "TLSPROBE_REQUIRE_SERVERS"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose servers are not installed, or fail it where the environment says that they must be."""
    for marker in item.iter_markers("servers"):
        for name in marker.args:
            try:
                find_program(name)
            except MissingProgramError as error:
                if os.environ.get(REQUIRE_SERVERS) == "1":
                    pytest.fail(f"{error}, and {REQUIRE_SERVERS}=1 demands it", pytrace=False)
                pytest.skip(f"{error}; tests/setup.sh installs it")


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The authority that clients in tests trust."""
    return Authority.create(tmp_path_factory.mktemp("certificates"), datetime.now(UTC))


@pytest.fixture(scope="session")
def leaf(authority: Authority) -> Leaf:
    """An ECDSA certificate for site.test and for every loopback address that servers listen on."""
    return authority.issue("ecdsa", now=datetime.now(UTC))


@pytest.fixture(scope="session")
def rsa_leaf(authority: Authority) -> Leaf:
    """The same with an RSA-2048 key."""
    return authority.issue("rsa", now=datetime.now(UTC), key_type="rsa")


@pytest.fixture(scope="session")
def ports() -> Iterator[Ports]:
    """Ports for servers; no two tests, workers or test runs on this machine are given the same one."""
    source = Ports()
    yield source
    source.close()
