"""Takes samples of the reference at a pace that keeps their cost small, whatever the machine."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog
from structlog.typing import FilteringBoundLogger

from exporter.model.yardstick import Sample, SignaturePrice
from exporter.reference.channel import ChannelError, SampleError
from exporter.yardstick.signatures import Signatures

SHARE = 0.004
"""Of one core, at most, that samples take; the probes of the reference come on top."""
_FIRST_PAUSE = 3.0
_SIGNATURES = 3

_log: FilteringBoundLogger = structlog.get_logger()


class Sink(Protocol):
    """Where samples go."""

    def fold(self, sample: Sample, prices: tuple[SignaturePrice, ...], now: float) -> None:
        """Take one in."""
        ...

    def fail(self) -> None:
        """Count one that came to nothing."""
        ...


def next_pause(interval: float, cpu: float) -> float:
    """Return the seconds to wait after a sample that took so much processor time."""
    return max(interval, cpu / SHARE)


async def keep_sampling(
    take_sample: Callable[[], Awaitable[Sample]],
    interval: float,
    sink: Sink,
    now: Callable[[], float],
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Take sample after sample, until cancelled; one that fails is counted, logged and followed by the next.

    Args:
        interval: seconds from one to the next, or more where samples cost too much for that.
        now: Unix time.
    """
    await sleep(min(_FIRST_PAUSE, interval))
    signatures = await asyncio.to_thread(Signatures)
    while True:
        cpu = 0.0
        try:
            sample = await take_sample()
        except (ChannelError, SampleError) as error:
            sink.fail()
            _log.warning("the reference could not be sampled", reason=str(error))
        else:
            sink.fold(sample, await asyncio.to_thread(signatures.price, _SIGNATURES), now())
            cpu = sample.cpu
        await sleep(next_pause(interval, cpu))
