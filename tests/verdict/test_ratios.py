"""The ratio of resumed to full handshakes."""

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake, Observation, Offer, Origin, Timing, TimingSource, TlsFacts
from exporter.verdict.ratios import ratios_of
from tests.verdict.fleet import TLS13, address

HERE = address(1)
KERNEL = TimingSource.KERNEL


def seen(
    duration: float,
    mode: str,
    *,
    pair: int | None = 0,
    backend: int = 1,
    source: TimingSource = KERNEL,
    disturbed: bool = False,
    bound: bool = False,
) -> Observation:
    """Make an observation of one handshake that took this long."""
    timing = Timing(source=source, duration=duration, wall=duration, disturbed=disturbed, duration_bound=bound)
    facts = TlsFacts(version=TLS13, cipher="c", resumed=mode == "resumed", offered=mode != "full")
    offer = None if mode == "full" else Offer(HERE, Origin.SELF, 1.0)
    return Observation(address(backend), TLS13, offer, Handshake(facts, timing), pair)


FULL = seen(4.0, "full")


@pytest.mark.parametrize(
    ("observations", "expected"),
    [
        pytest.param([FULL, seen(1.0, "resumed")], (0.25,), id="a pair"),
        pytest.param([seen(1.0, "resumed"), FULL], (0.25,), id="the other way round"),
        pytest.param([seen(1.0, "refused"), FULL, seen(2.0, "resumed")], (0.5,), id="a refusal beside it is no part"),
        pytest.param([FULL], (), id="full alone"),
        pytest.param([FULL, seen(1.0, "refused")], (), id="refused"),
        pytest.param([FULL, FULL, seen(1.0, "resumed")], (), id="two full ones"),
        pytest.param([FULL, seen(1.0, "resumed"), seen(1.0, "resumed")], (), id="two resumed ones"),
        pytest.param([FULL, seen(1.0, "resumed", disturbed=True)], (), id="disturbed"),
        pytest.param([FULL, seen(1.0, "resumed", bound=True)], (), id="an upper bound"),
        pytest.param([FULL, seen(1.0, "resumed", source=TimingSource.MONOTONIC)], (), id="two clocks"),
        pytest.param([seen(0.0, "full"), seen(1.0, "resumed")], (), id="no time at all"),
        pytest.param([seen(4.0, "full", pair=None), seen(1.0, "resumed", pair=None)], (), id="no pair"),
        pytest.param([FULL, seen(1.0, "resumed", pair=1)], (), id="of two pairs"),
        pytest.param([FULL, seen(1.0, "resumed", backend=2)], (), id="of two backends"),
        pytest.param(
            [FULL, seen(1.0, "resumed"), seen(8.0, "full", pair=1), seen(4.0, "resumed", pair=1)],
            (0.25, 0.5),
            id="two pairs",
        ),
        pytest.param(
            [FULL, Observation(HERE, TLS13, None, Failure(Stage.CONNECT, Reason.TIMEOUT), 0)], (), id="a failure"
        ),
    ],
)
def test_ratios_of(observations: list[Observation], expected: tuple[float, ...]) -> None:
    """A ratio comes of one full and one resumed handshake side by side that were measured alike."""
    assert ratios_of(observations) == expected
