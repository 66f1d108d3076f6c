"""Whether a backend answers otherwise over resumed connections: resumption works, and the application does not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from exporter.model.connections import HttpAnswer, Mismatch
from exporter.model.observation import Handshake, Mode, Observation
from exporter.model.target import Address

_KEPT = 16
"""Statuses that are remembered of either kind: one that full handshakes brought, too, is not laid to resumption."""
_FULL = 3  # answers over full handshakes that must agree
_ROW = 3  # answers in a row over resumed connections that must differ from those, and agree
_LONG_ROW = 5
_RETRY_WORTHY = frozenset({429, 500, 502, 503, 504})
"""Statuses that servers give now and then to anyone, so that a longer row of them is wanted."""


@dataclass(frozen=True, slots=True)
class Replies:
    """Statuses of a backend's last answers, for one TLS version, over full handshakes and over resumed ones."""

    full: tuple[int, ...] = ()
    resumed: tuple[int, ...] = ()


def hear_replies(before: Replies, observations: Iterable[Observation]) -> Replies:
    """Add one round's answers of one backend and TLS version."""
    full, resumed = _statuses(observations)
    if not full and not resumed:
        return before
    return Replies((*before.full, *full)[-_KEPT:], (*before.resumed, *resumed)[-_KEPT:])


def _statuses(observations: Iterable[Observation]) -> tuple[list[int], list[int]]:
    full: list[int] = []
    resumed: list[int] = []
    for seen in observations:
        if not isinstance(seen.outcome, Handshake) or not isinstance(seen.outcome.http, HttpAnswer):
            continue
        if seen.outcome.mode is Mode.RESUMED:
            resumed.append(seen.outcome.http.status)
        else:
            full.append(seen.outcome.http.status)
    return full, resumed


def find_mismatch(backend: Address, replies: Replies, observations: Iterable[Observation]) -> Mismatch | None:
    """Tell that this round's answers over resumed connections have another status for certain.

    One that differs proves nothing, since a server may fail or be busy now and then. So all the last answers over full
    handshakes must have the one status, this round's too, and a row of those over resumed connections the other.

    Args:
        backend: that all is of.
        replies: the last answers, this round's at their end.
        observations: this round's, of one TLS version.
    """
    _, now = _statuses(observations)
    if not now or len(replies.full) < _FULL or len(set(replies.full)) > 1:
        return None
    usual, other = replies.full[-1], now[-1]
    row = _row(replies.resumed)
    if other == usual or row < (_LONG_ROW if other in _RETRY_WORTHY else _ROW):
        return None
    return Mismatch(backend, full=usual, resumed=other, answers=_row(now))


def _row(statuses: Sequence[int]) -> int:
    """Count how many at the end are the same."""
    return next((far for far, status in enumerate(reversed(statuses)) if status != statuses[-1]), len(statuses))
