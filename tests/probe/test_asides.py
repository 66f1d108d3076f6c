"""When a backend is asked beside its handshakes."""

import asyncio

from exporter.model.connections import Staple, StapleStatus
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, Endpoint, Target, TlsVersion
from exporter.probe.asides import Asides
from exporter.probe.dial import Dialled
from exporter.probe.errand import PLAIN, Errand
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.wire.tls import Session

_BACKEND = Address("192.0.2.1", 443)
_TARGET = Target("site", Endpoint("site.test", 443), "site.test")
_FAILED = Failure(Stage.HANDSHAKE, Reason.TIMEOUT)
_NONE = Staple(StapleStatus.NONE)


class _World:
    """A clock, and a backend that gives its stapled answers one after the other."""

    def __init__(self, answers: list[Staple | Failure | None]) -> None:
        self.now = 0.0
        self.asked: list[float] = []
        self.memory = Memory()
        self._answers = answers

    async def dial(
        self,
        target: Target,
        backend: Address,
        version: TlsVersion,
        session: Session | None = None,
        errand: Errand = PLAIN,
    ) -> Dialled:
        """Fail."""
        return Dialled(_FAILED)

    async def ask_staple(self, target: Target, backend: Address, version: TlsVersion) -> Staple | Failure:
        """Note the time, and give an answer, or none before the round's end."""
        self.asked.append(self.now)
        answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
        if answer is None:
            await asyncio.Event().wait()
        return answer or _NONE

    async def visit(self, seconds: int) -> list[float]:
        """Visit the backend every ten seconds; return when it was asked."""
        means = Means(self.dial, lambda: self.now, lambda: self.now, lambda: 0.5, self.ask_staple)
        for self.now in map(float, range(0, seconds, 10)):
            try:
                async with asyncio.timeout(0.01):
                    await Asides(_TARGET, (_BACKEND,), self.memory, means).visit(
                        (_BACKEND, TlsVersion.TLS13), lambda: False
                    )
            except TimeoutError:
                continue
        return self.asked


async def test_staple_is_kept() -> None:
    """A backend that answered is asked again after ten minutes."""
    assert await _World([_NONE]).visit(1210) == [0, 600, 1200]


async def test_failed_staple_is_not_asked_each_round() -> None:
    """One that refused or hung, until the round's end or not, is left alone for a while, and then asked again."""
    world = _World([_FAILED, None, _NONE])

    assert await world.visit(850) == [0, 120, 240, 840]
    assert world.memory.staples[_BACKEND] == (840.0, _NONE)
