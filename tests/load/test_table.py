"""What a person reads of a measured capacity."""

import struct
from dataclasses import replace

import pytest

from exporter.cli.capacity_table import render_end, render_step
from exporter.load.capacity import Capacity
from exporter.load.document import to_document
from exporter.load.orders import Order, Scouted, Site, Tally
from exporter.load.requirement import judge, parse_requirement
from exporter.load.step import Step, Strain, sum_up
from exporter.model.observation import Mode

SLOW = Order(mode=Mode.FULL, begin=0.0, seconds=8.0, rate=2.5)


def slow_step(failed: int = 0) -> Step:
    """Return a step of 20 connections in eight seconds."""
    handshakes = struct.pack("d", 0.01) * (20 - failed)
    failures = {"handshake: closed": failed} if failed else {}
    return sum_up(SLOW, [Tally(due=20, done=20 - failed, handshakes=handshakes, failures=failures, wall=8.0)])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("full>=9", "full>=9: MISSED, found at least 2.5 a second, since the generator was", id="rate"),
        pytest.param("p99<=1ms", "p99<=1ms: MISSED, found at most 10.00 ms, since the generator was", id="time"),
        pytest.param("full>=2", "full>=2: met, found at least 2.5 a second, since", id="met all the same"),
    ],
)
def test_line_that_the_generator_missed(line: str, expected: str) -> None:
    """A pass line that was missed by the generator is not laid to the server."""
    step = replace(slow_step(), busy=0.9)
    capacity = Capacity(Mode.FULL, ((step, None),), step)
    outcome = judge(parse_requirement(line), [capacity])

    assert expected in "\n".join(render_end([capacity], [outcome], unresumable=False))
    (told,) = to_document(Site("127.0.0.1", 443, "a"), Scouted(), [capacity], [outcome])["requirements"]
    assert told["generator_bound"] is True


def test_few_a_second() -> None:
    """What happens less often than a hundred times a second keeps its digits, wherever it is told."""
    step, failing = slow_step(), slow_step(failed=3)
    capacity = Capacity(Mode.FULL, ((step, None), (failing, Strain.ERRORS), (failing, Strain.ERRORS)), step)
    outcome = judge(parse_requirement("full>=2.6"), [capacity])
    printed = "\n".join(render_end([capacity], [outcome], unresumable=False))

    assert ["full", "2.5", "2.5"] == render_step(step, None).split()[:3]
    assert ["full", "2.5", "2.12"] == render_step(failing, Strain.ERRORS).split()[:3]
    assert "full: 2.5 handshakes a second" in printed
    assert "At 2.5 a second 3 of 20 failed" in printed
    assert "full>=2.6: MISSED, found 2.5 a second" in printed
