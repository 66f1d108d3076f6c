"""What one probe brought."""

from dataclasses import dataclass

from exporter.model.failure import Failure
from exporter.model.target import Target
from exporter.model.verdicts import RoundResult


@dataclass(frozen=True, slots=True)
class Probed:
    """What came of a probe.

    Attributes:
        result: None where there was none in time.
        seconds: that it took, the wait for its turn included.
        failure: why there is no result.
    """

    target: Target
    result: RoundResult | None
    seconds: float
    failure: Failure | None = None

    @property
    def success(self) -> bool:
        """Whether all backends answered and nothing failed."""
        return self.result is not None and bool(self.result.backends) and not self.result.failures
