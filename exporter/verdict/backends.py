"""How one backend resumes, for one TLS version."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from exporter.model.failure import ALERTS, Failure, Reason
from exporter.model.observation import Handshake, Observation, Origin
from exporter.model.target import TlsVersion
from exporter.model.verdicts import BackendState, Cause, Mechanism, OfferOutcome
from exporter.verdict.crossings import JudgedOffer
from exporter.verdict.history import BackendMemory

GOOD = frozenset({BackendState.RESUMES, BackendState.STATEFUL, BackendState.MIXED})
"""States in which a backend resumes at all."""
BAD = frozenset({BackendState.REFUSES, BackendState.NO_TICKETS, BackendState.KILLS})
"""States in which it does not."""

_SILENCE = frozenset({Reason.TIMEOUT, Reason.STALLED})
_SUSPICION = 6  # a connection that is reset or lost by chance looks like a kill, but not two or three times in a row
_POINTS_OF_AN_END = 3
_POINTS_OF_SILENCE = 2
_DOUBTS = 2  # rounds in a row that it takes to unsay a state which was proven
_DOUBTS_OF_MIXED = 8  # the same where chance decides which server answers
_CONTRADICTIONS = 2  # rounds, since one may be a restart between two connections
_CONTRADICTORY_ROUNDS = 8  # the window that they are counted in
_REFUSED, _ACCEPTED = 3, 2  # tickets of that many rounds of those, which chance alone tells from each other
_CLEAN_ROUNDS = 12  # in a row, after which several keys behind one address are gone


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one round showed of one backend.

    Attributes:
        shaken: a full handshake was completed, on whatever connection.
        given: such a handshake brought something to resume with.
        tickets: that was a ticket.
        accepted: an offer of any origin was accepted.
        by_id: one of those was a TLS 1.2 session id without a ticket.
        refused: it refused a fresh ticket of its own.
        rekeyed: it refused one of those while it already encrypted with another key.
        wavered: it refused a ticket and then accepted the very same.
        returned: it encrypted with a key that another had followed, and refuses tickets by their key.
        smooth: all that it was offered of its own was accepted, and no more than one key was seen; None where nothing
            was seen to be accepted or refused.
        alerted: it answered an offer by a fatal alert, and worked without the offer.
        suspicion: points for offers after which the connection ended otherwise, since it last survived one.
    """

    shaken: bool = False
    given: bool = False
    tickets: bool = False
    accepted: bool = False
    by_id: bool = False
    refused: bool = False
    rekeyed: bool = False
    wavered: bool = False
    returned: bool = False
    smooth: bool | None = None
    alerted: bool = False
    suspicion: int = 0


def gather(
    observations: Sequence[Observation], offers: Sequence[JudgedOffer], suspicion: int, *, returned: bool = False
) -> Evidence:
    """Sum up one backend's round.

    Args:
        observations: its own.
        offers: those that it was made.
        suspicion: what the last round left of it.
        returned: a key of its came back while it refuses tickets by their key.
    """
    shaken = [seen.outcome.tls for seen in observations if isinstance(seen.outcome, Handshake)]
    full = [tls for tls in shaken if not tls.resumed]
    old = any(tls.version is TlsVersion.TLS12 for tls in shaken)
    accepted = [one for one in offers if one.crossing.outcome is OfferOutcome.ACCEPTED]
    home = [one for one in offers if one.offer.origin is Origin.SELF and one.fresh]
    refusals = [one for one in home if one.telling]
    return Evidence(
        shaken=bool(full),
        # Where the library does not show TLS 1.3 tickets, that there was something to offer still tells of them.
        given=bool(home) or any(tls.tickets or (old and tls.session_id) for tls in full),
        tickets=not old or any(tls.tickets for tls in full),
        accepted=bool(accepted),
        by_id=old and any(one.offer.ticket is None for one in accepted),
        refused=bool(refusals),
        rekeyed=any(one.crossing.cause is Cause.KEY for one in refusals),
        wavered=_wavers(offers),
        returned=returned,
        smooth=_runs_smoothly(offers, returned=returned),
        alerted=any(_alerts(one) for one in offers),
        suspicion=_suspect(observations, offers, suspicion),
    )


def _wavers(offers: Sequence[JudgedOffer]) -> bool:
    """Find a ticket that was refused and then accepted; the other way round it may be good for one use only."""
    refused: set[bytes] = set()
    for one in offers:
        if one.offer.ticket is None:
            continue
        if one.telling:
            refused.add(one.offer.ticket.identity)
        elif one.crossing.outcome is OfferOutcome.ACCEPTED and one.offer.ticket.identity in refused:
            return True
    return False


def _runs_smoothly(offers: Sequence[JudgedOffer], *, returned: bool) -> bool | None:
    at_home = [one for one in offers if one.offer.origin in {Origin.SELF, Origin.AGED}]
    if returned or any(one.telling for one in at_home):
        return False
    return True if any(one.crossing.outcome is OfferOutcome.ACCEPTED for one in at_home) else None


def _alerts(one: JudgedOffer) -> bool:
    outcome = one.observation.outcome
    return one.crossing.outcome is OfferOutcome.KILLED and isinstance(outcome, Failure) and outcome.reason in ALERTS


def _suspect(observations: Sequence[Observation], offers: Sequence[JudgedOffer], suspicion: int) -> int:
    """Count how strongly it looks as if offers end connections, while full handshakes never fail."""
    if any(seen.offer is None and isinstance(seen.outcome, Failure) for seen in observations):
        return 0
    for one in offers:
        outcome = one.observation.outcome
        if not isinstance(outcome, Failure):
            suspicion = 0
        elif one.crossing.outcome is OfferOutcome.KILLED:
            suspicion += _POINTS_OF_SILENCE if outcome.reason in _SILENCE else _POINTS_OF_AN_END
    return suspicion


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of a backend, and what of it is to be remembered.

    Attributes:
        proven: this round showed it; otherwise it is held from an earlier one, or not known.
    """

    state: BackendState
    proven: bool
    doubts: int = 0
    contradictions: tuple[int, ...] = ()
    clean: int = 0


def find(evidence: Evidence, memory: BackendMemory, *, now: int, hold: int) -> Finding:
    """Draw the state of a backend that completed a full handshake, or was not asked, from a round and the last ones.

    What a round does not show stays as it was for `hold` rounds. What was proven good is unsaid only by two
    rounds in a row: a restart between two connections is no change.
    """
    turns = memory.state is BackendState.MIXED and evidence.shaken
    lasts = max(hold, _DOUBTS_OF_MIXED) if turns else hold
    fading = memory.state if now - memory.proven <= lasts else BackendState.UNKNOWN
    clean = memory.clean if evidence.smooth is None else memory.clean + 1 if evidence.smooth else 0
    contradictions = _contradictions(evidence, memory, now=now, hold=hold)
    held = Finding(fading, proven=False, doubts=memory.doubts, contradictions=contradictions, clean=clean)
    worse = _worse(evidence)
    if evidence.alerted or evidence.suspicion >= _SUSPICION:
        return replace(held, state=BackendState.KILLS, proven=True, doubts=0)
    several = len(contradictions) >= _CONTRADICTIONS or _takes_turns(memory)
    torn = clean < _CLEAN_ROUNDS and (fading is BackendState.MIXED or several)
    if torn and (evidence.accepted or evidence.rekeyed):
        return replace(held, state=BackendState.MIXED, proven=True, doubts=0)
    if evidence.accepted:
        stateful = evidence.by_id or memory.mechanism is Mechanism.STATEFUL
        left = () if fading is BackendState.MIXED else contradictions
        state = BackendState.STATEFUL if stateful else BackendState.RESUMES
        return replace(held, state=state, proven=True, doubts=0, contradictions=left)
    if worse is None:
        return replace(held, state=_held(evidence, memory, fading))
    doubts = memory.doubts + 1
    if fading in GOOD and doubts < (_DOUBTS_OF_MIXED if fading is BackendState.MIXED else _DOUBTS):
        return replace(held, doubts=doubts)
    return replace(held, state=worse, proven=True, doubts=0)


def _worse(evidence: Evidence) -> BackendState | None:
    if not evidence.shaken:
        return None
    if not evidence.given:
        return BackendState.NO_TICKETS
    # A key that changed between two connections, or several behind one address, is no refusal of its own tickets.
    if not evidence.refused or evidence.rekeyed:
        return None
    return BackendState.REFUSES if evidence.tickets else BackendState.NO_TICKETS


def _held(evidence: Evidence, memory: BackendMemory, fading: BackendState) -> BackendState:
    if not evidence.shaken and memory.state is BackendState.NOT_SPOKEN:
        return BackendState.NOT_SPOKEN  # a fact that holds until it is tried again
    outlived = (evidence.shaken and fading is BackendState.NOT_SPOKEN) or (
        evidence.given and fading is BackendState.NO_TICKETS
    )
    return BackendState.UNKNOWN if outlived else fading


def _takes_turns(memory: BackendMemory) -> bool:
    """Tell whether tickets of the last rounds were accepted and refused in turn, under one key as far as is known."""
    lately = memory.samples.hits[-_CONTRADICTORY_ROUNDS:]
    kept = memory.mechanism is Mechanism.STATEFUL or memory.spending
    return not kept and lately.count(False) >= _REFUSED and lately.count(True) >= _ACCEPTED


def _contradictions(evidence: Evidence, memory: BackendMemory, *, now: int, hold: int) -> tuple[int, ...]:
    window = max(2 * hold, _CONTRADICTORY_ROUNDS)
    lately = tuple(then for then in memory.contradictions if now - then < window)
    torn = evidence.refused and evidence.accepted
    return (*lately, now) if evidence.wavered or evidence.returned or evidence.rekeyed or torn else lately
