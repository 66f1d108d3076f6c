"""The arithmetic of turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.schedule.phase import next_due, phase_of

SECOND = 1_000_000_000
INTERVALS = st.integers(1, 10**15)


@given(now=st.integers(-(10**18), 10**18), interval=INTERVALS, name=st.text())
def test_next_due(now: int, interval: int, name: str) -> None:
    """The next tick is after now, at most one interval away and on the phase."""
    phase = phase_of(name, interval)
    due = next_due(now, interval, phase)

    assert now < due <= now + interval
    assert (due - phase) % interval == 0
    assert next_due(due, interval, phase) == due + interval


@given(name=st.text(), long=INTERVALS, short=INTERVALS)
def test_phase_lies_within_its_span(name: str, long: int, short: int) -> None:
    """A phase is a place within the span, and about the same share of any other span."""
    assert 0 <= phase_of(name, long) < long
    assert phase_of(name, long) / long == pytest.approx(phase_of(name, short) / short, abs=1 / long + 1 / short)


def test_phase_is_stable() -> None:
    """A name keeps its place from process to process and from release to release."""
    assert phase_of("shop", 30 * SECOND) == 9_864_017_554


def test_phases_spread() -> None:
    """Ten thousand targets are spread evenly: no tenth of the interval is off its share by over a sixth."""
    tenths = [phase_of(f"target-{number}", 10) for number in range(10_000)]

    assert all(830 < tenths.count(tenth) < 1170 for tenth in range(10))
