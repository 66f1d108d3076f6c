"""One thing to show of an account, before it is checked."""

from typing import NamedTuple

from exporter.metrics.histogram import Distribution


class Reading(NamedTuple):
    """One series, or all series of one histogram, at one moment; a tuple, since that is the fastest thing to make.

    Attributes:
        family: its name in the table.
        labels: values, in the order of the family's labels.
        owner: names and values of the owner's own labels, where the family has them.
    """

    family: str
    labels: tuple[str, ...]
    value: float | Distribution
    owner: tuple[tuple[str, str], ...] = ()
