"""Samples: what one holds, how often they are taken, and what happens when one fails."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from exporter.model.observation import Mode
from exporter.model.yardstick import KINDS, Operation, Sample, SignaturePrice
from exporter.reference.channel import ChannelError, SampleError
from exporter.reference.sampling import SHARE, keep_sampling, next_pause
from tests.reference.client import memory, running

MEMORY_KIB = 40 * 1024
CHEAP, DEAR = (Sample((), (), (), (), cpu) for cpu in (0.01, 100 * SHARE))


async def test_sample() -> None:
    """Every handshake of a sample is what it was meant to be, sample after sample, and the child stays small."""
    async with running() as reference:
        for _ in range(2):
            sample = await reference.take_sample()
            assert set(KINDS) == {one.kind for one in sample.passes}
            for one in sample.passes:
                assert list(Mode) == [shake.mode for shake in one.shakes]
                assert all(shake.as_meant and shake.seconds > 0 and shake.cpu > 0 for shake in one.shakes)
            for pairs in (sample.requests, sample.reuse, sample.transfers):
                assert all(pair.base > 0 and pair.other > 0 for pair in pairs)
                assert len(pairs) >= 2
            assert sample.cpu > 0
        assert reference.pid
        assert memory(reference.pid, "status", "VmRSS") < MEMORY_KIB


class Sink:
    """Notes what it is given."""

    def __init__(self) -> None:
        self.samples: list[tuple[Sample, float]] = []
        self.prices: list[SignaturePrice] = []
        self.failures = 0

    def fold(self, sample: Sample, prices: tuple[SignaturePrice, ...], now: float) -> None:
        """Note it."""
        self.samples.append((sample, now))
        self.prices.extend(prices)

    def fail(self) -> None:
        """Count it."""
        self.failures += 1


class EndOfTestError(Exception):
    """All outcomes were played."""


def player(*outcomes: Sample | Exception) -> Callable[[], Awaitable[Sample]]:
    """Return a source of samples that gives these and then ends the test."""
    left = iter(outcomes)

    async def take() -> Sample:
        await asyncio.sleep(0)
        outcome = next(left, EndOfTestError())
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return take


async def test_pace() -> None:
    """Samples follow each other at the interval, after one that was dear later, and a failure holds up nothing."""
    sink, pauses = Sink(), []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    source = player(CHEAP, ChannelError("gone"), SampleError("no port"), DEAR)
    with pytest.raises(EndOfTestError):
        await keep_sampling(source, 60.0, sink, lambda: 1000.0, sleep)

    assert [3.0, 60.0, 60.0, 60.0, 100.0] == pauses
    assert [(CHEAP, 1000.0), (DEAR, 1000.0)] == sink.samples
    assert sink.failures == 2
    assert {("ecdsa-p256", each) for each in Operation} | {("rsa-2048", each) for each in Operation} == {
        (price.key_type, price.operation) for price in sink.prices
    }
    assert all(price.cpu > 0 for price in sink.prices)


@pytest.mark.parametrize(
    ("interval", "cpu", "expected"),
    [
        pytest.param(60.0, 0.1, 60.0, id="cheap enough"),
        pytest.param(1.0, 0.1, 0.1 / SHARE, id="too dear for the interval"),
        pytest.param(60.0, 0.0, 60.0, id="failed"),
    ],
)
def test_next_pause(interval: float, cpu: float, expected: float) -> None:
    """However short the interval and slow the machine, samples take no more than their share of a core."""
    assert expected == next_pause(interval, cpu)
