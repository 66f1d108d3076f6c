"""A backend that accepts connections and then says nothing, as one whose process was stopped."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from exporter.model.failure import Reason, Stage
from exporter.model.target import TlsVersion
from exporter.model.verdicts import BackendState, TargetState
from tests.fleets.starting import StartFleet
from tests.fleets.watch import backend_states, both, site, states, watching
from tests.servers.certificates import Authority, Leaf
from tests.servers.nginx import Nginx, Settings

pytestmark = pytest.mark.servers("nginx")


@contextmanager
def stopped(server: Nginx) -> Iterator[None]:
    """Stop a server's workers for a while."""
    workers = server.children
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    try:
        yield
    finally:
        for worker in workers:
            os.kill(worker, signal.SIGCONT)


@pytest.mark.parametrize(
    ("interval", "patience"),
    [pytest.param(1.0, 1.0, id="timeout as long as a round"), pytest.param(3.0, 0.5, id="shorter timeout")],
)
async def test_hung_backend(
    start_fleet: StartFleet,
    leaf: Leaf,
    keys: tuple[Path, Path],
    authority: Authority,
    interval: float,
    patience: float,
) -> None:
    """It is failed, with the reason, in each round; and the others are judged, a split among them too."""
    one, two = (Settings(leaf=leaf, ticket_keys=(key,)) for key in keys)
    with start_fleet([one, one, one, two]) as servers:
        target = replace(site([server.address for server in servers], authority), interval=interval, timeout=patience)
        async with watching(target) as watch:
            before = await watch.rounds(3)
            with stopped(servers[0]):
                results = await watch.rounds(4)
            after = await watch.rounds(2)

    assert both(TargetState.SPLIT) == states(before[-1])
    for result in results[1:]:
        assert BackendState.FAILED is backend_states(result, TlsVersion.TLS13)[0]
        assert (Stage.HANDSHAKE, Reason.TIMEOUT) in {(f.stage, f.reason) for _, f in result.failures}
        for version in TlsVersion:
            assert TargetState.SPLIT is result.verdicts[version].state
            assert (servers[3].address,) == result.verdicts[version].odd
    assert both(TargetState.SPLIT) == states(after[-1])
    assert BackendState.RESUMES is backend_states(after[-1], TlsVersion.TLS13)[0]
