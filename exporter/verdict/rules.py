"""How patient the verdicts are, and how they write down names of keys."""

from dataclasses import dataclass, field

from exporter.model.fingerprint import SALT


@dataclass(frozen=True, slots=True)
class Rules:
    """The owner's settings for verdicts.

    Attributes:
        hold: rounds for which the last state of a backend stands while nothing is seen of it.
        grace: seconds after a change of key in which backends may still differ.
        salt: of the digests by which keys are known after a restart.
    """

    hold: int = 3
    grace: float = 300.0
    salt: bytes = field(default=SALT, repr=False)
