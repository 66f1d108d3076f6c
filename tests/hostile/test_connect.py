"""Addresses at which no connection comes about."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from exporter.model.failure import Reason, Stage
from exporter.model.target import Address, Target, TlsVersion
from tests.hostile.dialling import SLACK, TIMEOUT, dial
from tests.hostile.listener import closed_port, deaf_port

Place = Callable[[str], AbstractContextManager[Address]]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize(
    ("place", "reason", "least"),
    [
        pytest.param(closed_port, Reason.CONNECTION_REFUSED, 0.0, id="nothing listens"),
        pytest.param(deaf_port, Reason.TIMEOUT, TIMEOUT, id="drops every SYN"),
    ],
)
async def test_no_connection(site: Target, host: str, place: Place, reason: Reason, least: float) -> None:
    """A refused connection is told at once, and one that nobody answers at its deadline."""
    with place(host) as address:
        done = await dial(site, address, TlsVersion.TLS13)

    assert (done.failure.stage, done.failure.reason) == (Stage.CONNECT, reason)
    assert least * 0.9 <= done.elapsed < least + SLACK
