"""A token bucket."""

from collections.abc import Callable

from exporter.web.lock import RateLimit


class Bucket:
    """Earns one token in each interval, up to a burst of them, and is full at first."""

    def __init__(self, limit: RateLimit, clock: Callable[[], float]) -> None:
        self.limit = limit
        self._clock = clock
        self._tokens = float(limit.burst)
        self._counted = clock()

    def take(self) -> bool:
        """Take a token, or say that there is none."""
        now = self._clock()
        earned = (now - self._counted) / self.limit.interval
        self._tokens = min(self._tokens + earned, float(self.limit.burst))
        self._counted = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
