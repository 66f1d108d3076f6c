"""A verdict in a sentence, for people."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from exporter.model.failure import Failure
from exporter.model.target import Address, Resumption, TlsVersion
from exporter.model.verdicts import BackendState, Cause, KeyEventKind, OfferOutcome, TargetState, VersionVerdict
from exporter.verdict.census import keys_of

_SHOWN = 4
_LEFT_OUT = MappingProxyType(
    {
        BackendState.NOT_SPOKEN: "This version is not spoken by",
        BackendState.UNKNOWN: "Not judged",
    }
)
_ADVICE = MappingProxyType(
    {
        TargetState.UNKNOWN: "See why the backends could not be asked, and probe again.",
        TargetState.NO_TICKETS: "Switch session tickets on (nginx: ssl_session_tickets on), or expect resumption: off.",
        TargetState.BROKEN: "Give the server a ticket key or a session cache (nginx: ssl_session_cache), or expect "
        "resumption: off.",
        TargetState.STATEFUL: "Use session tickets with one key on all backends, or share the session cache; if each "
        "backend is meant to keep its own, expect resumption: per_backend.",
        TargetState.UNEVEN: "Compare the TLS settings of the backends named with those of the others.",
        TargetState.MIXED: "Several servers or processes answer at one address: give them all the same ticket key.",
        TargetState.ROTATING: "Wait until all backends have the new key.",
        TargetState.ONE_WAY: "Give all backends the same list of ticket keys, the new one too, and reload them.",
        TargetState.SPLIT: "Give all backends the same ticket key (nginx: the same ssl_session_ticket_key file) "
        "and reload them.",
    }
)
_MEND = "Mend what failed: resumption can be judged once full handshakes succeed."
_CAUSE_ADVICE = MappingProxyType(
    {
        Cause.CERTIFICATE: "The keys bear the same name, but the certificates differ: deploy the same certificate "
        "and session context everywhere.",
        Cause.CIPHER: "The keys bear the same name, but other ciphers are chosen: use the same cipher settings "
        "everywhere.",
        Cause.VERSION: "The backends choose different TLS versions: use the same protocol settings everywhere.",
    }
)
_FINE: Mapping[Resumption, frozenset[TargetState]] = MappingProxyType(
    {
        Resumption.SHARED: frozenset({TargetState.CONSISTENT, TargetState.ROTATING}),
        Resumption.PER_BACKEND: frozenset(
            {
                TargetState.CONSISTENT,
                TargetState.ROTATING,
                TargetState.STATEFUL,
                TargetState.ONE_WAY,
                TargetState.SPLIT,
            }
        ),
        # Servers with tickets switched off may still issue some on TLS 1.3, and accept none.
        Resumption.OFF: frozenset({TargetState.NO_TICKETS, TargetState.BROKEN}),
        Resumption.ANY: frozenset(TargetState) - {TargetState.UNKNOWN},
    }
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict for people.

    Attributes:
        text: what was seen, in a sentence or two.
        advice: what to do about it; empty where there is nothing to do.
        healthy: nothing is wrong with what was meant, no backend failed, and none ends connections for a ticket.
    """

    text: str
    advice: str
    healthy: bool


def explain(
    version: TlsVersion,
    verdict: VersionVerdict,
    meant: Resumption = Resumption.SHARED,
    *,
    missing: Failure | None = None,
) -> Explanation:
    """Say what a verdict means, in light of what resumption was meant to be.

    Args:
        missing: why there was no backend to judge, where that is so.
    """
    found = {state: _in_state(verdict, state) for state in BackendState}
    if (number := len(verdict.backends)) == len(found[BackendState.NOT_SPOKEN]) > 0:
        nobody = "either backend" if number == 2 else _all(number)
        return Explanation(f"TLS {version}: not spoken by {nobody}.", "", healthy=True)
    failed = _failed(verdict, missing)
    apart = f"{failed}{_left_out(found)}"
    text = f"TLS {version}: {_TELLING[verdict.state](verdict)}{apart}{_died(verdict)}{_short_lived(verdict)}"
    if killers := found[BackendState.KILLS]:
        advice = f"A returning client's connection dies there, so see the error logs at once: {_names(killers)}."
        return Explanation(text, advice, healthy=False)
    alone = verdict.state is TargetState.STATEFUL and verdict.judged == 1
    fine = verdict.state in _FINE[meant] or (alone and meant is Resumption.SHARED)
    advice = "" if fine else _MEND if failed and not verdict.judged else _advise(verdict, meant)
    return Explanation(text, advice, healthy=fine and not found[BackendState.FAILED])


def _advise(verdict: VersionVerdict, meant: Resumption) -> str:
    if meant is Resumption.OFF and verdict.state is not TargetState.UNKNOWN:
        return "Sessions are resumed although that is meant to be off: switch it off on the server."
    causes = {crossing.cause for crossing in verdict.crossings if crossing.cause is not None}
    if verdict.state in {TargetState.SPLIT, TargetState.ONE_WAY} and len(causes) == 1:
        return _CAUSE_ADVICE.get(causes.pop(), _ADVICE[verdict.state])
    return _ADVICE[verdict.state]


def _in_state(verdict: VersionVerdict, state: BackendState) -> tuple[Address, ...]:
    return tuple(backend for backend, found in verdict.backends.items() if found.state is state)


def _names(backends: Sequence[Address]) -> str:
    """List addresses as a person would, the first few of many."""
    shown = [str(backend) for backend in backends[:_SHOWN]]
    if len(backends) > _SHOWN:
        shown.append(f"{len(backends) - _SHOWN} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _all(number: int) -> str:
    return {1: "the backend", 2: "both backends"}.get(number, f"all {number} backends")


def _left_out(found: Mapping[BackendState, Sequence[Address]]) -> str:
    """Name the backends that the state was not drawn from."""
    return "".join(f" {words}: {_names(found[state])}." for state, words in _LEFT_OUT.items() if found[state])


def _failed(verdict: VersionVerdict, missing: Failure | None) -> str:
    """Name the backends that failed, and why, or why there are none."""
    if missing is not None and not verdict.backends:
        return f" Failed ({replace(missing, detail='')})."
    why: dict[str, list[Address]] = {}
    for backend in _in_state(verdict, BackendState.FAILED):
        failure = verdict.backends[backend].failure
        why.setdefault(str(replace(failure, detail="")) if failure else "", []).append(backend)
    return "".join(f" Failed{f' ({words})' if words else ''}: {_names(backends)}." for words, backends in why.items())


def _died(verdict: VersionVerdict) -> str:
    """Name the backends whose tickets were found dead in this round."""
    backends = sorted({event.backend for event in verdict.events if event.kind is KeyEventKind.BREAK})
    return f" Tickets within their life have died at {_names(backends)}." if backends else ""


def _short_lived(verdict: VersionVerdict) -> str:
    """Name the backend that keeps its promise of a lifetime worst, if one does not keep it."""
    shares = {
        backend: survival.youngest_refused / survival.hint
        for backend, found in verdict.backends.items()
        if (survival := found.survival).youngest_refused is not None and 0 < survival.youngest_refused < survival.hint
    }
    if not shares:
        return ""
    worst = min(sorted(shares), key=lambda backend: shares[backend])
    survival = verdict.backends[worst].survival
    return (
        f" At {worst}, a ticket was refused at an age of {survival.youngest_refused:.0f} s, although {survival.hint} s "
        "were promised."
    )


def _tell_unknown(verdict: VersionVerdict) -> str:
    if verdict.judged:
        return "the backends resume, but too little was seen of their taking each other's tickets."
    return "no backend could be judged."


def _tell_no_tickets(verdict: VersionVerdict) -> str:
    if any(crossing.outcome is OfferOutcome.REFUSED for crossing in verdict.crossings):
        return f"{_all(verdict.judged)} gave no tickets, and did not take the session ids back that came instead."
    return f"{_all(verdict.judged)} gave nothing to resume with."


def _tell_broken(verdict: VersionVerdict) -> str:
    return f"sessions were offered back to {_all(verdict.judged)}, and none was resumed, not even at home."


def _tell_stateful(verdict: VersionVerdict) -> str:
    if verdict.judged == 1:
        return "the backend resumes sessions that it keeps itself."
    return "each backend resumes the sessions that it keeps itself, and no other's."


def _tell_uneven(verdict: VersionVerdict) -> str:
    return f"some backends resume sessions, and these do not: {_names(verdict.odd)}."


def _tell_mixed(verdict: VersionVerdict) -> str:
    text = f"one address answers differently from offer to offer: {_names(verdict.odd)}."
    census = verdict.backends[verdict.odd[0]].census if len(verdict.odd) == 1 else None
    keys = keys_of(census)
    if census is None or keys is None or keys < 2:
        return text
    kept = f", and {census.hits} of {census.offers} kept tickets were accepted" if census.offers else ""
    return f"{text} Seen from here, {'about ' if not census.keys else ''}{keys} ticket keys are in use there{kept}."


def _tell_rotating(verdict: VersionVerdict) -> str:
    groups = "" if verdict.groups is None or verdict.groups < 2 else f"; {verdict.groups} are in use"
    return f"the ticket key is being changed{groups}."


def _tell_one_way(verdict: VersionVerdict) -> str:
    strangers = {crossing.issuer for crossing in verdict.crossings if crossing.outcome is OfferOutcome.REFUSED}
    if strangers.issuperset(verdict.odd):
        return f"tickets of these backends are refused by others, whose tickets they accept: {_names(verdict.odd)}."
    return f"these backends refuse tickets of others, which accept theirs: {_names(verdict.odd)}."


def _tell_split(verdict: VersionVerdict) -> str:
    groups = "" if verdict.groups is None or verdict.groups < 2 else f", in {verdict.groups} groups"
    odd = f" Against the majority: {_names(verdict.odd)}." if verdict.odd else ""
    return f"backends refuse each other's tickets{groups}.{odd}"


def _tell_consistent(verdict: VersionVerdict) -> str:
    if verdict.judged == 1:
        several = any(found.census is not None and found.census.keys > 1 for found in verdict.backends.values())
        # A balancer may also have led each of our offers to where its ticket came from.
        beside = ", of several keys, wherever ours have led" if several else ""
        return f"the backend accepts its own tickets{beside}."
    return f"{_all(verdict.judged)} accept each other's tickets."


_TELLING: Mapping[TargetState, Callable[[VersionVerdict], str]] = MappingProxyType(
    {
        TargetState.UNKNOWN: _tell_unknown,
        TargetState.NO_TICKETS: _tell_no_tickets,
        TargetState.BROKEN: _tell_broken,
        TargetState.STATEFUL: _tell_stateful,
        TargetState.UNEVEN: _tell_uneven,
        TargetState.MIXED: _tell_mixed,
        TargetState.ROTATING: _tell_rotating,
        TargetState.ONE_WAY: _tell_one_way,
        TargetState.SPLIT: _tell_split,
        TargetState.CONSISTENT: _tell_consistent,
    }
)
