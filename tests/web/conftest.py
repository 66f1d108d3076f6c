"""What the tests of the HTTP side share."""

from collections.abc import Iterator

import pytest
from blockbuster import blockbuster_ctx


@pytest.fixture(autouse=True)
def _loop_is_never_blocked() -> Iterator[None]:
    """Fail a test in which our code blocks the event loop."""
    with blockbuster_ctx("exporter"):
        yield
