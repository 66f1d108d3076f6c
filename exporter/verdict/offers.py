"""How one offer of a session ended."""

from exporter.model.failure import Failure, Stage
from exporter.model.observation import Mode, Observation
from exporter.model.verdicts import OfferOutcome

_OUTCOMES = {
    Mode.RESUMED: OfferOutcome.ACCEPTED,
    Mode.REFUSED: OfferOutcome.REFUSED,
    Mode.FULL: OfferOutcome.NOT_OFFERED,
}


def outcome_of(observation: Observation) -> OfferOutcome:
    """Tell how an offer ended.

    A failure is laid to the offer only if it came in the handshake, after the ticket had gone out, and a handshake
    without it worked right after.

    Raises:
        ValueError: no session was to be offered on this connection.
    """
    if observation.offer is None:
        raise ValueError("a full handshake offers nothing, so no offer of its can end")
    if not isinstance(observation.outcome, Failure):
        return _OUTCOMES[observation.outcome.mode]
    if observation.confirmed and observation.outcome.stage is Stage.HANDSHAKE:
        return OfferOutcome.KILLED
    return OfferOutcome.ERROR
