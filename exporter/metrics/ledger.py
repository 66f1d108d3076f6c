"""The ledger: an account for each target, into which the results of rounds are folded."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

from exporter.metrics.account import TargetAccount
from exporter.metrics.family import SECONDS_BUCKETS
from exporter.metrics.fold import fold
from exporter.metrics.histogram import Distribution, Histogram
from exporter.model.failure import Failure
from exporter.model.observation import Handshake, TimingSource
from exporter.model.target import Target
from exporter.model.verdicts import RoundResult

T = TypeVar("T")

_TRIES = 3

MAX_BACKENDS = 256
"""Backends of one target that get series of their own; more would drown whoever scrapes us."""


class Ledger:
    """All targets' accounts, and what their rounds showed of ourselves.

    An exposition may be made in a thread of its own. Whoever changes an account holds the lock, and gives the account a
    new revision. To read an account of many backends takes a tenth of a second, and the event loop, which changes them,
    is not to wait for that: so it is read without the lock, and once more if its revision was another afterwards.
    """

    def __init__(self, max_backends: int = MAX_BACKENDS) -> None:
        self._max_backends = max_backends
        self._accounts: dict[str, TargetAccount] = {}
        self._revisions: dict[str, int] = {}
        self._changes = 0
        self._starvation = Histogram(SECONDS_BUCKETS)
        self._timing_source: TimingSource | None = None
        self._lock = Lock()

    def admit(self, target: Target) -> None:
        """Let a target's series begin, its counters at 0; one that is known already gets its new settings."""
        with self._changing(target.name):
            self._account(target).adopt(target)

    def fold(self, result: RoundResult) -> None:
        """Add the result of one round; a target that was not admitted is."""
        with self._changing(result.target.name):
            fold(self._account(result.target), result)
            for observation in result.observations:
                if isinstance(observation.outcome, Handshake):
                    self._starvation.observe(observation.outcome.timing.starvation)
                    self._timing_source = observation.outcome.timing.source

    def missed(self, target_name: str, ticks: int) -> None:
        """Count rounds that were left out because the one before still ran; an unknown target has nothing to count."""
        with self._changing(target_name):
            if (account := self._accounts.get(target_name)) is not None:
                account.overruns += ticks

    def failed(self, target_name: str, failure: Failure) -> None:
        """Count a failure that is in no result, as of a round that came to none."""
        with self._changing(target_name):
            if (account := self._accounts.get(target_name)) is not None:
                account.count_failure(failure)

    def forget(self, target_name: str) -> None:
        """Drop a target with all its series."""
        with self._changing(target_name):
            self._accounts.pop(target_name, None)

    def names(self) -> Sequence[str]:
        """Return the targets' names, in the order in which they were first seen."""
        with self._lock:
            return tuple(self._accounts)

    def revision(self, target_name: str) -> int | None:
        """Return a number that is a new one after each change of the target's account; None if the target is gone."""
        with self._lock:
            return self._revisions.get(target_name)

    def read(self, target_name: str, look: Callable[[TargetAccount], T]) -> T | None:
        """Return what `look` makes of a target's account as it is between two changes; None if the target is gone.

        Args:
            look: may be called again; nothing that it returns may be part of the account.
        """
        for _ in range(_TRIES):
            with self._lock:
                account, before = self._accounts.get(target_name), self._revisions.get(target_name)
            if account is None:
                return None
            try:
                found = look(account)
            except Exception:
                if before == self.revision(target_name):
                    raise  # else it stumbled over what was just being changed
            else:
                if before == self.revision(target_name):
                    return found
        with self._lock:
            account = self._accounts.get(target_name)
            return None if account is None else look(account)

    def starvation(self) -> Distribution:
        """Return by how many seconds our own lack of processor time prolonged the handshakes so far."""
        with self._lock:
            return self._starvation.freeze()

    def timing_source(self) -> TimingSource | None:
        """Return what the last handshake's time was taken from, None before the first."""
        with self._lock:
            return self._timing_source

    @contextmanager
    def _changing(self, name: str) -> Iterator[None]:
        """Hold the lock while a target's account is begun, changed or dropped."""
        with self._lock:
            self._changes += 1
            self._revisions[name] = self._changes
            try:
                yield
            finally:
                if name not in self._accounts:
                    del self._revisions[name]

    def _account(self, target: Target) -> TargetAccount:
        if target.name not in self._accounts:
            self._accounts[target.name] = TargetAccount(target, self._max_backends)
        return self._accounts[target.name]
