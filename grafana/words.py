"""States as numbers, from the best to the worst, with the colour and the word that stand for each.

Grafana colours, sorts and draws numbers, and the exporter has a series for each state. A query turns the one that
holds into its rank, and a mapping turns the rank into the word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from grafana_foundation_sdk.models.dashboard import ValueMap, ValueMappingResult

from exporter.model.connections import StapleStatus
from exporter.model.verdicts import BackendState, TargetState


@dataclass(frozen=True, slots=True)
class Scale:
    """A closed list in an order, with colours.

    Attributes:
        label: of the metric, whose values the list has.
        colours: by value, from the best to the worst; a value's place is its rank.
    """

    metric: str
    label: str
    colours: Mapping[StrEnum, str]

    def ranks(self, selector: str, by: str) -> str:
        """Return the query for the worst rank that holds, for each set of the labels in `by`."""
        terms = (
            f'({self.metric}{{{selector},{self.label}="{value}"}} == 1) * {rank}'
            for rank, value in enumerate(self.colours)
        )
        return f"max by ({by}) (\n  " + "\n  or ".join(terms) + "\n)"

    @property
    def mapping(self) -> ValueMap:
        """Words and colours of the ranks."""
        return words([(str(value).replace("_", " "), colour) for value, colour in self.colours.items()])


def words(texts: Sequence[tuple[str, str]]) -> ValueMap:
    """Map 0, 1, 2 and so on to texts and their colours."""
    return ValueMap(
        options={
            str(rank): ValueMappingResult(text=text, color=colour, index=rank)
            for rank, (text, colour) in enumerate(texts)
        },
    )


TARGET = Scale(
    "tlsprobe_ticket_key_state",
    "state",
    {
        TargetState.CONSISTENT: "green",
        TargetState.UNKNOWN: "text",
        TargetState.STATEFUL: "blue",
        TargetState.ROTATING: "light-blue",
        TargetState.NO_TICKETS: "yellow",
        TargetState.UNEVEN: "light-orange",
        TargetState.MIXED: "orange",
        TargetState.ONE_WAY: "dark-orange",
        TargetState.SPLIT: "red",
        TargetState.BROKEN: "dark-red",
    },
)

BACKEND = Scale(
    "tlsprobe_backend_state",
    "state",
    {
        BackendState.RESUMES: "green",
        BackendState.NOT_SPOKEN: "text",
        BackendState.UNKNOWN: "text",
        BackendState.STATEFUL: "blue",
        BackendState.NO_TICKETS: "yellow",
        BackendState.MIXED: "orange",
        BackendState.REFUSES: "red",
        BackendState.FAILED: "dark-red",
        BackendState.KILLS: "purple",
    },
)

STAPLE = Scale(
    "tlsprobe_ocsp_status",
    "status",
    {
        StapleStatus.GOOD: "green",
        StapleStatus.NONE: "text",
        StapleStatus.UNKNOWN: "yellow",
        StapleStatus.UNREADABLE: "orange",
        StapleStatus.EXPIRED: "red",
        StapleStatus.REVOKED: "dark-red",
    },
)

SCALES = (TARGET, BACKEND, STAPLE)

NO_YES = words([("no", "red"), ("yes", "green")])
"""A fact that ought to hold."""

YES_IS_BAD = words([("no", "green"), ("yes", "red")])
"""A fact that ought not to hold."""
