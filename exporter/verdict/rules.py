"""How patient the verdicts are."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """The owner's settings for verdicts.

    Attributes:
        hold: rounds for which the last state of a backend stands while nothing is seen of it.
        grace: seconds after a change of key in which backends may still differ.
    """

    hold: int = 3
    grace: float = 300.0
