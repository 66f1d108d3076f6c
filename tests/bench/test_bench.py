"""The parts of the benchmarks that need no machine to themselves."""

import math
import os
import random
import subprocess
import sys
import time

import pytest

from tests.bench.client import processor_seconds
from tests.bench.daemon import counter
from tests.bench.keep import update
from tests.bench.table import Table, render
from tests.bench.turn import Taken, Turn, join, percentile, read_taken, read_turn, write_line

_MARKER = "<!-- From here on written by tests.bench; each benchmark replaces its own section. -->\n"


@pytest.mark.parametrize(
    ("text", "sections", "expected"),
    [
        pytest.param(f"intro\n{_MARKER}", ["## A\n\n1\n"], f"intro\n{_MARKER}\n## A\n\n1\n", id="first figures"),
        pytest.param(
            f"intro\n{_MARKER}\n## A\n\n1\n\n## B\n\n2\n",
            ["## A\n\n3\n"],
            f"intro\n{_MARKER}\n## A\n\n3\n\n## B\n\n2\n",
            id="one of two replaced in its place",
        ),
        pytest.param(f"{_MARKER}\n## A\n\n1\n", ["## B\n\n2\n"], f"{_MARKER}\n## A\n\n1\n\n## B\n\n2\n", id="one more"),
    ],
)
def test_sections_are_kept(text: str, sections: list[str], expected: str) -> None:
    """A benchmark that ran replaces its own section and leaves the others as they are."""
    assert update(text, sections) == expected


def test_file_without_marker_is_left_alone() -> None:
    """A file that was not meant for figures gets none."""
    with pytest.raises(ValueError, match="has no line"):
        update("# Something else\n", ["## A\n\n1\n"])


def test_rendered_table_tells_its_goals() -> None:
    """A table shows its method, its cells, and which goals were missed."""
    table = Table("T", "How.", ("a", "b"), (("1", "2"),), (("good", True), ("bad", False)))

    assert not table.met
    assert render(table) == "## T\n\nHow.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n- good: met\n- bad: MISSED\n"


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        pytest.param(Turn(3), [(0.0, -math.inf)] * 3, id="flat out"),
        pytest.param(Turn(3, rate=100), [(0.0, 7.0), (0.0, 7.01), (0.0, 7.02)], id="paced"),
        pytest.param(Turn(2, pauses=(0.01, 0.01)), [(0.01, -math.inf)] * 2, id="paused"),
    ],
)
def test_waits(turn: Turn, expected: list[tuple[float, float]]) -> None:
    """A rate gives due times from the start on, anything else a pause."""
    assert list(turn.waits(random.Random(1), 7.0)) == expected  # noqa: S311 - no secret hangs on a pause


def test_turns_survive_the_line() -> None:
    """What goes to a client and comes back is what was meant."""
    turn, taken = Turn(2, (0.1, 0.2), 3.0, http=True), Taken((0.25, 0.5), (1.0, 2.0), 0.75, 1)

    assert read_turn(write_line(turn)) == turn
    assert read_taken(write_line(taken)) == taken
    assert join([taken, taken]).cpu_each == 0.375


@pytest.mark.parametrize(("percent", "expected"), [(50, 3.0), (90, 4.6), (99, 4.96)])
def test_percentile(percent: int, expected: float) -> None:
    """Percentiles lie between the values on both sides."""
    assert percentile([5.0, 1.0, 4.0, 2.0, 3.0], percent) == pytest.approx(expected)


def test_processor_time_of_another_process() -> None:
    """A process that computes is seen to, from outside."""
    loop = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"
    with subprocess.Popen([sys.executable, "-c", loop]) as process:
        deadline = time.monotonic() + 10
        while processor_seconds(process.pid) < 0.05 and time.monotonic() < deadline:
            time.sleep(0.01)
        used = processor_seconds(process.pid)
        process.kill()

    assert used >= 0.05
    assert abs(processor_seconds(os.getpid()) - time.process_time()) < 0.05


def test_counter_is_read_off_a_page() -> None:
    """A series is found by its name and labels, and an absent one is 0."""
    page = '# HELP a_total A.\na_total{target="x"} 3.0\na_total{target="xy"} 4.0\n'

    assert counter(page, 'a_total{target="x"}') == 3.0
    assert counter(page, 'a_total{target="z"}') == 0.0
