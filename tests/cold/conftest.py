"""What these tests share: one chain of certificates."""

from datetime import UTC, datetime

import pytest

from exporter.model.target import TlsSettings
from exporter.wire.context import Contexts
from tests.cold.chain import Chain, issue_chain
from tests.servers.certificates import SERVER_NAME

NAMES = (SERVER_NAME, *(f"shop-{number}.example" for number in range(84)))


@pytest.fixture(scope="session")
def contexts() -> Contexts:
    """The cache, as a process has it."""
    return Contexts()


@pytest.fixture(scope="session")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    """Four certificates, the leaf with 85 names."""
    return issue_chain(tmp_path_factory.mktemp("chain"), datetime.now(UTC), NAMES)


@pytest.fixture(scope="session")
def trusting(chain: Chain) -> TlsSettings:
    """Settings that trust the chain's root."""
    return TlsSettings(ca_file=str(chain.root_file))
