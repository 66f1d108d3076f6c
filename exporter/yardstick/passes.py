"""Handshakes of several kinds, one after another in an order that is turned round from pass to pass."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from exporter.model.observation import Mode
from exporter.model.yardstick import Kind, Pass, Shake
from exporter.yardstick.client import Client
from exporter.yardstick.place import Place

MODES = (Mode.FULL, Mode.RESUMED, Mode.REFUSED)


@dataclass(frozen=True, slots=True)
class Subject:
    """A server whose handshakes are measured.

    Attributes:
        stranger: whose tickets it cannot read, spoken to with the same client context; None where that is not measured.
    """

    kind: Kind
    place: Place
    stranger: Place | None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """What is measured of it."""
        return MODES if self.stranger is not None else MODES[:2]


class Passes:
    """Makes pass after pass; each offers the sessions that were taken at the beginning.

    Args:
        batch: handshakes in a row that make up one figure. A quarter as many come before them and are thrown away, so
            that several find the caches as a busy server has them.

    Raises:
        OSError: a server does not answer.
        MeterError: it does not tell what it used.
    """

    def __init__(self, client: Client, subjects: Sequence[Subject], batch: int = 1) -> None:
        self._client = client
        self._subjects = tuple(subjects)
        self._offers = {(place, mode): client.take_session(issuer) for place, mode, issuer in _issuers(self._subjects)}
        self._batch = batch
        self._turned = False

    def make(self) -> tuple[Pass, ...]:
        """Make one pass over all subjects and modes.

        Raises:
            OSError: a server does not answer.
            MeterError: it does not tell what it used.
        """
        steps = [(subject, mode) for subject in self._subjects for mode in subject.modes]
        done = {step: self._shake(*step) for step in (reversed(steps) if self._turned else steps)}
        self._turned = not self._turned
        return tuple(
            Pass(subject.kind, tuple(done[subject, mode] for mode in subject.modes)) for subject in self._subjects
        )

    def _shake(self, subject: Subject, mode: Mode) -> Shake:
        place = subject.place
        offer = self._offers.get((place, mode))
        before = place.read_meter()
        if warming := self._batch // 4:
            for _ in range(warming):
                self._client.shake(place, offer)
            place.settle(before, warming)
            before = place.read_meter()
        shaken = [self._client.shake(place, offer) for _ in range(self._batch)]
        cpu = place.settle(before, self._batch) / self._batch
        waited = statistics.median(one.seconds for one in shaken)
        return Shake(mode, waited, cpu, sum(one.resumed for one in shaken), self._batch)


def _issuers(subjects: Sequence[Subject]) -> list[tuple[Place, Mode, Place]]:
    own = [(subject.place, Mode.RESUMED, subject.place) for subject in subjects]
    return own + [(each.place, Mode.REFUSED, each.stranger) for each in subjects if each.stranger is not None]
