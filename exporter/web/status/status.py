"""What the status pages are made from."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from exporter.model.target import Target
from exporter.model.verdicts import RoundResult
from exporter.web.status.history import History

MakeRound = Callable[[Target], Awaitable[RoundResult]]
"""Makes one round of a target, with a memory of its own."""


@dataclass(frozen=True, slots=True)
class Status:
    """What was found, and how to look once more.

    Attributes:
        make_round: for `/probe`; without it, that is not served.
        salt: of the numbers that stand for names of keys.
    """

    history: History = field(default_factory=History)
    make_round: MakeRound | None = None
    salt: bytes = b""
