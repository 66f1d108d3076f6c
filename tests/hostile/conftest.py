"""What the hostile tests share: one authority, one good identity, and stock contexts for it."""

import datetime as dt
from pathlib import Path

import pytest

from tests.hostile.identity import Authority, Identity


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this session's certificates lie."""
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="session")
def authority() -> Authority:
    """The root that clients trust."""
    return Authority(dt.datetime.now(dt.UTC))


@pytest.fixture(scope="session")
def root_file(authority: Authority, folder: Path) -> str:
    """The root as a PEM file."""
    return str(authority.save_root(folder))


@pytest.fixture(scope="session")
def identity(authority: Authority) -> Identity:
    """A certificate with which nothing is wrong."""
    return authority.issue()
