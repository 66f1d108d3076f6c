"""The reference as the rest of the exporter sees it: targets to probe, and a child process that is kept alive."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

import structlog
from structlog.typing import FilteringBoundLogger

from exporter.model.target import Address, Expect, IdleScope, ProbeSettings, Resumption, Target, TlsSettings
from exporter.model.yardstick import Sample
from exporter.reference.certificates import Credentials, make_credentials
from exporter.reference.channel import Channel, ChannelError
from exporter.reference.listeners import SERVER_NAME, STANDARD, Handover, Listener
from exporter.reference.ports import reserve
from exporter.reference.process import ANSWER_SECONDS, BEAT_SECONDS, live

TARGET_NAME = "reference"
CONTROL_NAME = "reference-control"
"""Never in the ordinary families: its two backends differ on purpose."""

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
_TIMEOUT = 5.0

_log: FilteringBoundLogger = structlog.get_logger()


def next_pause(last: float | None, lived: float) -> float:
    """Return the seconds to wait before the next start: doubling, and from the beginning after a long enough life.

    Args:
        last: the pause before this life, None for the first.
        lived: seconds that the child lived.
    """
    if last is None or lived > LONGEST_PAUSE:
        return FIRST_PAUSE
    return min(last * 2, LONGEST_PAUSE)


@dataclass(frozen=True, slots=True)
class Life:
    """How the child is looked after.

    Attributes:
        beat: seconds from one look whether it hangs to the next.
        patience: seconds in which it must answer then, or else as long again.
        tell_ended: called each time that it ended by itself, or hung.
    """

    beat: float = BEAT_SECONDS
    patience: float = ANSWER_SECONDS
    tell_ended: Callable[[], object] = lambda: None


class Reference:
    """Known servers on 127.0.0.1, with addresses and certificates that stay the same however often the child dies.

    Attributes:
        addresses: where each listener serves.
        ca_pem: the CA to trust.
        pid: the child that serves now, None while there is none.
        restarts: how often a child ended by itself.
    """

    def __init__(self, credentials: Credentials, addresses: Mapping[Listener, Address], life: "Life") -> None:
        self.addresses = MappingProxyType(dict(addresses))
        self.ca_pem = credentials.ca
        self.pid: int | None = None
        self.restarts = 0
        ports = {listener: address.port for listener, address in addresses.items()}
        self._handover = Handover(ports, ecdsa=credentials.ecdsa, rsa=credentials.rsa, ca=credentials.ca)
        self._life = life
        self._channel: Channel | None = None
        self._settled = asyncio.Event()

    @classmethod
    @contextlib.asynccontextmanager
    async def start(cls, group: asyncio.TaskGroup, life: "Life | None" = None) -> AsyncIterator[Self]:
        """Start the servers and keep them running, in a task of `group`; leaving ends them within a second.

        A child that does not start is no error here: it is tried again and again, and `pid` stays None.

        Args:
            life: how the child is looked after.

        Raises:
            OSError: no port on 127.0.0.1 can be had.
        """
        credentials = await asyncio.to_thread(make_credentials)
        with contextlib.ExitStack() as reserved:
            reference = cls(credentials, {listener: reserve(reserved) for listener in STANDARD}, life or Life())
            watch = group.create_task(reference._watch(), name="reference")
            try:
                await reference._settled.wait()
                yield reference
            finally:
                watch.cancel()
                await asyncio.wait([watch])

    def target(self, interval: float) -> Target:
        """Return the target whose two backends share their ticket key; interval in seconds."""
        return self._pair(TARGET_NAME, Listener.A, Listener.B, Expect(Resumption.SHARED, min_backends=2), interval)

    def control_target(self, interval: float) -> Target:
        """Return the target whose two backends have ticket keys of their own, which a truthful prober calls split."""
        return self._pair(CONTROL_NAME, Listener.A, Listener.C, Expect(Resumption.PER_BACKEND), interval)

    async def take_sample(self) -> Sample:
        """Measure what TLS costs here and now, in the child's own processes.

        Raises:
            ChannelError: there is no child that answers.
            SampleError: it could not measure.
        """
        if self._channel is None:
            raise ChannelError("there is no child")
        return await self._channel.take_sample()

    def _pair(self, name: str, one: Listener, other: Listener, expect: Expect, interval: float) -> Target:
        return Target(
            name=name,
            endpoint=self.addresses[one],
            server_name=SERVER_NAME,
            backends=(self.addresses[one], self.addresses[other]),
            tls=TlsSettings(ca_pem=self.ca_pem),
            probe=ProbeSettings(idle=IdleScope.OFF, staple=False, hello_splits=False),
            expect=expect,
            interval=interval,
            timeout=min(_TIMEOUT, interval),
        )

    async def _watch(self) -> None:
        clock = asyncio.get_running_loop().time
        pause = None
        while True:
            born = clock()
            try:
                reason = await live(self._handover, self._note_serving, self._life.beat, self._life.patience)
            finally:
                self.pid = self._channel = None
            self.restarts += 1
            self._life.tell_ended()
            self._settled.set()
            pause = next_pause(pause, clock() - born)
            _log.warning("reference servers ended", reason=reason, starting_again_in=pause)
            await asyncio.sleep(pause)

    def _note_serving(self, channel: Channel) -> None:
        self._channel = channel
        self.pid = channel.pid
        self._settled.set()
