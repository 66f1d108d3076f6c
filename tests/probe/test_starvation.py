"""Failures that are our own, told from the target's."""

import asyncio
import time
from pathlib import Path

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake
from exporter.model.target import Endpoint, Target, TlsSettings, TlsVersion
from exporter.probe.dial import Dialler
from exporter.probe.starvation import is_ours
from tests.hostile.listener import Peer, listening
from tests.hostile.scripts import server_context
from tests.servers.certificates import SERVER_NAME, Authority, Leaf


@pytest.mark.parametrize(
    ("reason", "lateness", "ours"),
    [
        pytest.param(Reason.CLOSED, 0.06, True, id="closed while its bytes lay unread"),
        pytest.param(Reason.CLOSED, 0.04, False, id="closed, and we were hardly late"),
        pytest.param(Reason.RESET, 0.06, True, id="reset while its bytes lay unread"),
        pytest.param(Reason.TIMEOUT, 0.06, False, id="silent for seconds, and we were late a little"),
        pytest.param(Reason.TIMEOUT, 1.1, True, id="a good share of the time was lost to us"),
        pytest.param(Reason.STALLED, 1.1, True, id="the same amid an answer"),
        pytest.param(Reason.NOT_TLS, 9.0, False, id="no lateness makes a server speak something else"),
        pytest.param(Reason.ALERT_HANDSHAKE_FAILURE, 9.0, False, id="nor send an alert"),
    ],
)
def test_is_ours(reason: Reason, lateness: float, ours: bool) -> None:
    """Only an end or a deadline can come of our own lateness, and only of enough of it."""
    assert ours is is_ours(Failure(Stage.HANDSHAKE, reason), lateness, timeout=5.0)


async def test_refused_connection_is_never_ours() -> None:
    """A port at which nobody listens says so at once, however late we hear it."""
    assert not is_ours(Failure(Stage.CONNECT, Reason.CONNECTION_REFUSED), 9.0, timeout=5.0)


async def test_impatient_server(authority: Authority, leaf: Leaf) -> None:
    """A server that closed on us while we did not run is asked again, and what it did first is told as ours."""
    context = server_context(leaf)

    def play(peer: Peer) -> None:
        peer.sock.settimeout(0.1)
        with context.wrap_socket(peer.sock.dup(), server_side=True) as tls:
            tls.settimeout(None)
            tls.recv(1)

    with listening(play) as address:
        target = Target(
            "site",
            Endpoint(SERVER_NAME, address.port),
            SERVER_NAME,
            tls=TlsSettings(ca_file=str(Path(authority.file))),
            timeout=5.0,
        )
        dialler = Dialler()
        try:
            # The first thing that the loop does once the hello is out: nothing at all, as without a processor.
            asyncio.get_running_loop().call_soon(time.sleep, 0.4)
            dialled = await dialler.dial(target, address, TlsVersion.TLS12)
        finally:
            dialler.close()

    assert isinstance(dialled.outcome, Handshake)
    assert [(Stage.PROBE, Reason.STARVED)] == [(failure.stage, failure.reason) for failure in dialled.starved]
