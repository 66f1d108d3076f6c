"""How sources of targets do, as families."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prometheus_client.core import Metric

from exporter.metrics.assembly import assemble
from exporter.metrics.lines import Lines, write_rows
from exporter.metrics.reading import Reading
from exporter.metrics.row import Row, check
from exporter.model.source import Standing


class SourceCollector:
    """Shows each source by its name.

    Args:
        read: gives the sources as they are now; called in any thread.
    """

    def __init__(self, read: Callable[[], Mapping[str, Standing]]) -> None:
        self._standings = read

    def collect(self) -> Iterator[Metric]:
        """Yield the families, for any registry of prometheus_client."""
        return assemble(self.read())

    def read(self) -> Sequence[Row]:
        """Return what there is to show now."""
        return check(_read(self._standings()))

    def lines(self) -> Iterable[Lines]:
        """Return the same as lines of text."""
        return (write_rows(self.read()),)


def _read(standings: Mapping[str, Standing]) -> Iterator[Reading]:
    for name, standing in standings.items():
        source = (name,)
        yield Reading("source_successful", source, standing.successful)
        yield Reading("source_failures_total", source, standing.failures)
        if standing.targets is not None:
            yield Reading("source_targets", source, standing.targets)
        if standing.succeeded_at is not None:
            yield Reading("source_last_success_timestamp_seconds", source, standing.succeeded_at)
