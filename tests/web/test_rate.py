"""The token bucket."""

import pytest

from exporter.web.lock import RateLimit
from exporter.web.rate import Bucket


@pytest.mark.parametrize(
    ("burst", "asked", "expected"),
    [
        pytest.param(1, [0, 0, 1, 1.5, 2], [True, False, True, False, True], id="one each second"),
        pytest.param(3, [0, 0, 0, 0], [True, True, True, False], id="a burst"),
        pytest.param(2, [0, 0, 60, 60, 60], [True, True, True, True, False], id="no more is saved up than a burst"),
        pytest.param(1, [0, 0.5, 0.9, 1], [True, False, False, True], id="asking in vain costs nothing"),
    ],
)
def test_bucket(burst: int, asked: list[float], expected: list[bool]) -> None:
    """One token is earned in each interval, and up to a burst of them are saved up."""
    times = iter([0.0, *asked])
    bucket = Bucket(RateLimit(1.0, burst), lambda: next(times))

    assert expected == [bucket.take() for _ in asked]
