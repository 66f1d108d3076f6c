"""The ledger as a collector: families are new at each scrape, so what left the ledger is gone."""

from collections.abc import Iterator, Sequence

from prometheus_client.core import Metric

from exporter.metrics.account import TargetAccount
from exporter.metrics.assembly import assemble
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from exporter.metrics.reading import Reading
from exporter.metrics.readings import read_account
from exporter.metrics.row import Row, check
from exporter.model.fingerprint import SALT


class LedgerCollector:
    """All targets of a ledger; one whose account cannot be shown is left out whole and counted as a fault.

    `salt` goes into the fingerprints of key names.
    """

    def __init__(self, ledger: Ledger, faults: Faults, salt: bytes = SALT) -> None:
        self._ledger = ledger
        self._faults = faults
        self._salt = salt

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

    def _readings(self, account: TargetAccount) -> tuple[Reading, ...]:
        return tuple(read_account(account, self._salt))
