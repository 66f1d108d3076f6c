"""Families about the exporter itself, read from small callables at each scrape."""

import platform
import ssl
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client.core import Metric

from exporter import __version__
from exporter.metrics.assembly import assemble
from exporter.metrics.faults import Faults
from exporter.metrics.histogram import Distribution
from exporter.metrics.lines import Lines, write_rows
from exporter.metrics.reading import Reading
from exporter.metrics.row import Row, check
from exporter.model.observation import TimingSource


@dataclass(frozen=True, slots=True)
class Build:
    """What runs here."""

    version: str
    python: str
    openssl: str


def this_build() -> Build:
    """Return the versions of this process."""
    return Build(__version__, platform.python_version(), ssl.OPENSSL_VERSION)


@dataclass(frozen=True, slots=True)
class Reload:
    """How loading the configuration went.

    Attributes:
        successful: whether the last attempt worked.
        succeeded_at: Unix time of the last one that did in seconds, None if none ever did.
    """

    successful: bool
    succeeded_at: float | None


@dataclass(frozen=True, slots=True)
class Part:
    """Which targets are probed here.

    Attributes:
        total: targets that are configured or were found, those of other shards too.
        own: those of them that are probed here.
        index, count: the number of this shard, from 0 on, and how many there are.
    """

    total: int
    own: int
    index: int = 0
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where the figures come from; None from a callable is nothing to show.

    Attributes:
        starvation: seconds, of all handshakes since the start.
        timing_source: of the last handshake.
        reload: None where there is no configuration to load.
        reference_ok: None where the reference servers are off or were not probed yet.
        part: which targets are probed here.
    """

    starvation: Callable[[], Distribution]
    timing_source: Callable[[], TimingSource | None]
    reload: Callable[[], Reload | None]
    reference_ok: Callable[[], bool | None]
    part: Callable[[], Part | None] = lambda: None


class OwnCollector:
    """The exporter's own families; a source that fails costs its own family only."""

    def __init__(self, build: Build, sources: Sources, faults: Faults) -> None:
        self._build = build
        self._sources = sources
        self._faults = faults

    def collect(self) -> Iterator[Metric]:
        """Yield the families that have a series now, for any registry of prometheus_client."""
        return assemble(self.read())

    def read(self) -> Sequence[Row]:
        """Return what there is to show now."""
        rows: list[Row] = []
        for part in (
            self._read_build,
            self._read_reload,
            self._read_starvation,
            self._read_source,
            self._read_reference,
            self._read_part,
        ):
            with self._faults.guard(part.__name__):
                rows.extend(check(part()))
        rows.extend(check([Reading("exposition_faults_total", (), self._faults.count)]))
        return rows

    def lines(self) -> Iterable[Lines]:
        """Return the same as lines of text."""
        return (write_rows(self.read()),)

    def _read_build(self) -> Iterator[Reading]:
        yield Reading("build_info", (self._build.version, self._build.python, self._build.openssl), 1)

    def _read_reload(self) -> Iterator[Reading]:
        if (reload := self._sources.reload()) is None:
            return
        yield Reading("config_last_reload_successful", (), reload.successful)
        if reload.succeeded_at is not None:
            yield Reading("config_last_reload_success_timestamp_seconds", (), reload.succeeded_at)

    def _read_starvation(self) -> Iterator[Reading]:
        yield Reading("starvation_seconds", (), self._sources.starvation())

    def _read_source(self) -> Iterator[Reading]:
        if (source := self._sources.timing_source()) is not None:
            yield Reading("timing_source_info", (source,), 1)

    def _read_reference(self) -> Iterator[Reading]:
        if (ok := self._sources.reference_ok()) is not None:
            yield Reading("reference_ok", (), ok)

    def _read_part(self) -> Iterator[Reading]:
        if (part := self._sources.part()) is None:
            return
        yield Reading("targets", (), part.total)
        yield Reading("shard_targets", (), part.own)
        yield Reading("shard_info", (str(part.index), str(part.count)), 1)
