"""The ledger as a collector: families are new at each scrape, so what left the ledger is gone."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client.core import Metric

from exporter.metrics.account import TargetAccount
from exporter.metrics.assembly import assemble
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from exporter.metrics.lines import Lines, write_lines
from exporter.metrics.reading import Reading
from exporter.metrics.readings import read_account
from exporter.metrics.row import Row, check
from exporter.model.fingerprint import SALT


class LedgerCollector:
    """All targets of a ledger; one whose account cannot be shown is left out whole and counted as a fault.

    A target's lines are kept until its account changes, which is after a round: scrapes come more often than those, and
    from more than one scraper. They take a ninth of a kilobyte a series.

    `salt` goes into the fingerprints of key names.
    """

    def __init__(self, ledger: Ledger, faults: Faults, salt: bytes = SALT) -> None:
        self._ledger = ledger
        self._faults = faults
        self._salt = salt
        self._kept: dict[str, tuple[int, Lines]] = {}

    def collect(self) -> Iterator[Metric]:
        """Yield the families that have a series now, for any registry of prometheus_client."""
        return assemble(self.read())

    def read(self) -> Sequence[Row]:
        """Return what there is to show now."""
        rows: list[Row] = []
        for name in self._ledger.names():
            with self._faults.guard(f"target {name}"):
                rows.extend(check(self._ledger.read(name, self._readings) or ()))
        return rows

    def lines(self) -> Iterable[Lines]:
        """Return the same as lines of text, each target's apart; called by one thread at a time."""
        names = self._ledger.names()
        for gone in self._kept.keys() - set(names):
            del self._kept[gone]
        found: list[Lines] = []
        for name in names:
            with self._faults.guard(f"target {name}"):
                found.extend(self._write(name))
        return found

    def _write(self, name: str) -> Sequence[Lines]:
        """Return a target's lines, or nothing if it is gone."""
        revision = self._ledger.revision(name)  # asked for first: what changes from now on is written the next time
        kept = self._kept.get(name)
        if kept is not None and kept[0] == revision:
            return (kept[1],)
        lines = self._ledger.read(name, lambda account: write_lines(read_account(account, self._salt)))
        if lines is None or revision is None:
            return ()
        self._kept[name] = revision, lines
        return (lines,)

    def _readings(self, account: TargetAccount) -> tuple[Reading, ...]:
        return tuple(read_account(account, self._salt))
