"""What the hostile tests share: a target, and servers with which nothing is wrong."""

import ssl

import pytest

from exporter.model.target import Target
from tests.hostile.dialling import target
from tests.hostile.scripts import server_context
from tests.hostile.tinytls import Identity
from tests.servers.certificates import Authority, Leaf


@pytest.fixture(scope="session")
def identity(leaf: Leaf) -> Identity:
    """A good certificate, for the small server."""
    return Identity.load(leaf)


@pytest.fixture(scope="session")
def context(leaf: Leaf) -> ssl.SSLContext:
    """The same in a stock server context, for both versions."""
    return server_context(leaf)


@pytest.fixture(scope="session")
def site(authority: Authority) -> Target:
    """A target that trusts the test's root, asks for its good name, and gives each connection a second."""
    return target(str(authority.file))
