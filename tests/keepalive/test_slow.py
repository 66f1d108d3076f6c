"""Servers that answer slowly, yet within the time that they have."""

import random
import ssl
import time
from dataclasses import replace

from exporter.model.failure import Failure, Stage
from exporter.model.target import Resolved, TlsVersion
from exporter.model.verdicts import TargetState
from exporter.probe.dial import Dialler
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from tests.hostile.listener import Peer, listening
from tests.hostile.scripts import over_tls, server_context
from tests.keepalive.asking import offering
from tests.servers.certificates import Authority, Leaf

_SECONDS = 0.4
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def _answer_slowly(tls: ssl.SSLSocket, peer: Peer) -> None:
    while tls.recv(65536) and not peer.over.wait(_SECONDS):
        tls.sendall(_ANSWER)


async def test_further_requests_do_not_fail_a_round(authority: Authority, leaf: Leaf) -> None:
    """Requests that would outlast the round are given up: the handshake ahead of them went well, and is judged."""
    dialler = Dialler()
    memory = Memory()
    prober = Prober(Means(dialler.dial, time.monotonic, time.time, random.random))
    failures: list[Failure] = []
    try:
        with listening(over_tls(server_context(leaf), _answer_slowly)) as address:
            target = replace(offering(address, authority), versions=(TlsVersion.TLS13,), interval=1.1, timeout=0.6)
            for _ in range(4):
                result = await prober.run_round(target, Resolved((address,)), memory)
                failures += [failure for _, failure in result.failures if failure.stage is Stage.HANDSHAKE]
    finally:
        dialler.close()

    assert failures == []
    assert result.verdicts[TlsVersion.TLS13].state is TargetState.CONSISTENT
