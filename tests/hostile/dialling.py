"""One dial at a hostile listener, with the time that it took."""

import time
from dataclasses import dataclass, replace

from exporter.model.failure import Failure
from exporter.model.observation import Handshake
from exporter.model.target import Address, Endpoint, HttpSettings, Target, TlsSettings, TlsVersion
from exporter.probe.dial import Dialler
from exporter.probe.errand import Errand
from exporter.wire.tls import Session
from tests.servers.certificates import SERVER_NAME, Leaf

TIMEOUT = 1.0
"""Seconds that a connection may take, where a test says nothing else."""
SLACK = 0.75
"""Seconds by which a busy machine may be late, without a deadline having been missed."""
_CALM_TRIES = 5


@dataclass(frozen=True, slots=True)
class Dial:
    """What came of it.

    Attributes:
        elapsed: seconds by the monotonic clock.
    """

    outcome: Handshake | Failure
    sessions: tuple[Session, ...]
    elapsed: float

    @property
    def handshake(self) -> Handshake:
        """The outcome, where it must be a handshake."""
        assert isinstance(self.outcome, Handshake), self.outcome
        return self.outcome

    @property
    def failure(self) -> Failure:
        """The outcome, where it must be a failure."""
        assert isinstance(self.outcome, Failure), self.outcome
        return self.outcome

    @property
    def http_failure(self) -> Failure:
        """Why there was no answer, where there must be none."""
        assert isinstance(self.handshake.http, Failure), self.handshake.http
        return self.handshake.http


def target(root_file: str, *, timeout: float = TIMEOUT, expect_status: tuple[int, ...] = ()) -> Target:
    """Give a target that trusts the test's root and asks for its good name."""
    return Target(
        name="hostile",
        endpoint=Endpoint(SERVER_NAME, 443),
        server_name=SERVER_NAME,
        tls=TlsSettings(ca_file=root_file),
        http=HttpSettings(expect_status=expect_status),
        timeout=timeout,
    )


def showing(target: Target, leaf: Leaf) -> Target:
    """Give the same target with a client certificate."""
    return replace(target, tls=replace(target.tls, cert_file=str(leaf.certificate_file), key_file=str(leaf.key_file)))


async def dial(
    target: Target, address: Address, version: TlsVersion, session: Session | None = None, *, http: bool = False
) -> Dial:
    """Dial once; where we were starved and the prober says so, once more, a few times at most."""
    dialler = Dialler()
    try:
        for _ in range(_CALM_TRIES):
            started = time.monotonic()
            dialled = await dialler.dial(target, address, version, session, Errand(http=http, keep=2))
            done = Dial(dialled.outcome, dialled.sessions, time.monotonic() - started)
            if not dialled.starved:
                break
        return done
    finally:
        dialler.close()
