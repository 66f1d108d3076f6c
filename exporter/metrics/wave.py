"""A configured wave of returning clients, as families to be compared with live figures."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client.core import Metric

from exporter.config.settings import WaveSettings
from exporter.metrics.assembly import assemble
from exporter.metrics.lines import Lines, write_rows
from exporter.metrics.reading import Reading
from exporter.metrics.row import Row, check
from exporter.model.observation import Mode


class WaveCollector:
    """Shows what was configured; without a wave there is nothing to show."""

    def __init__(self, wave: WaveSettings | None) -> None:
        self._rows = check(_read(wave)) if wave is not None else ()

    def collect(self) -> Iterator[Metric]:
        """Yield the families, for any registry of prometheus_client."""
        return assemble(self._rows)

    def read(self) -> Sequence[Row]:
        """Return what there is to show."""
        return self._rows

    def lines(self) -> Iterable[Lines]:
        """Return the same as lines of text."""
        return (write_rows(self.read()),)


def _read(wave: WaveSettings) -> Iterator[Reading]:
    yield Reading("wave_clients", (), wave.clients)
    yield Reading("wave_servers", (), wave.servers)
    yield Reading("wave_ceiling_handshakes_per_second", (Mode.FULL,), wave.ceiling)
    if wave.resumed_ceiling is not None:
        yield Reading("wave_ceiling_handshakes_per_second", (Mode.RESUMED,), wave.resumed_ceiling)
    yield Reading("wave_window_seconds", (), wave.window)
