"""How busy others keep the machine."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from exporter.yardstick.company import Company, read_busy

SPIN = "import time; end = time.monotonic() + 60\nwhile time.monotonic() < end: pass"


def test_a_loop_beside_us() -> None:
    """A process that never waits is seen, for what it used, and our own work is not."""
    with subprocess.Popen([sys.executable, "-c", SPIN]) as other:
        stat = Path(f"/proc/{other.pid}/schedstat")
        before, company, began = _ran(stat), Company(time.process_time, read_busy), time.monotonic()
        while time.monotonic() < began + 2.0:
            pass
        found, loop = company.tell(), (_ran(stat) - before) / (time.monotonic() - began)
        other.kill()

    assert found is not None
    # Whoever else runs here comes on top; the kernel counts by ticks, and ours to the nanosecond.
    assert found > loop - 0.2


@pytest.mark.parametrize(
    ("used", "busy", "expected"),
    [
        pytest.param([1.0, 5.0], [100.0, 106.0], 0.5, id="others took two seconds of four"),
        pytest.param([1.0, 5.0], [100.0, 103.0], 0.0, id="ticks that we were not charged for"),
        pytest.param([1.0, 5.0], [None, 106.0], None, id="not told at first"),
        pytest.param([1.0, 5.0], [100.0, None], None, id="not told any more"),
    ],
)
def test_arithmetic(used: list[float], busy: list[float | None], expected: float | None) -> None:
    """What all processors did less what we did is what others did, in processors."""
    moments, ours, all_of_them = iter([10.0, 14.0]), iter(used), iter(busy)
    company = Company(lambda: next(ours), lambda: next(all_of_them), lambda: next(moments))

    assert expected == company.tell()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("cpu  100 200 300 4000 50 6 7 800 90 9\ncpu0 1 1 1", 14.0, id="with time withheld"),
        pytest.param("cpu  100 200 300 4000\n", None, id="columns missing"),
        pytest.param("cpu0 1 2 3 4 5 6 7 8 9 10\n", None, id="another line"),
        pytest.param("cpu a b c d e f g h\n", None, id="no numbers"),
        pytest.param("", None, id="empty"),
    ],
)
def test_kernel_count(text: str, expected: float | None, tmp_path: Path) -> None:
    """User, nice, system and withheld time are added up; idle time and interrupts are not."""
    file = tmp_path / "stat"
    file.write_text(text)

    assert expected == read_busy(file)
    assert read_busy(tmp_path / "none") is None


def _ran(stat: Path) -> float:
    return int(stat.read_text().split()[0]) / 1e9
