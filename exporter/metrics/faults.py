"""What went wrong while an exposition was made: counted and told, never passed on to whoever scrapes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Faults:
    """A count of faults, and where to tell of them."""

    def __init__(self, report: Callable[[str, Exception], None]) -> None:
        self._report = report
        self.count = 0

    @contextmanager
    def guard(self, part: str) -> Iterator[None]:
        """Let the rest of the exposition live when the part fails."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - any bug in one part must not cost the others their series
            self.count += 1
            self._report(part, error)
