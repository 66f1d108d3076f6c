"""How the result of one round changes a target's account."""

from collections.abc import Mapping

from exporter.metrics.account import (
    BackendAccount,
    HandshakeCost,
    SessionAccount,
    TargetAccount,
    VersionAccount,
    full_facts,
)
from exporter.metrics.labels import LeftOut
from exporter.metrics.traffic import asks
from exporter.model.connections import HttpAnswer
from exporter.model.failure import Failure, Reason
from exporter.model.observation import Handshake, Mode, Observation, Origin, Timing, TlsFacts
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import Cause, OfferOutcome, RoundResult, VersionVerdict
from exporter.verdict.offers import outcome_of

_ANSWERED = (OfferOutcome.ACCEPTED, OfferOutcome.REFUSED, OfferOutcome.KILLED)

_YOUNGEST_AGED = 60
"""Seconds: the least age to which a ticket is kept back on purpose; one that lives no longer is never offered so."""


def fold(account: TargetAccount, result: RoundResult) -> None:
    """Add one round to the account."""
    account.adopt(result.target)
    account.keep(result.backends, result.supported)
    account.rounds += 1
    account.left_out += result.left_out
    account.ended = result.started + result.elapsed
    for _, failure in result.failures:
        account.count_failure(failure)
    _fold_verdicts(account.versions, result.verdicts)
    for address in _reached(result):
        _begin_round(account, address)
    for observation in result.observations:
        _fold_observation(account, observation)
    account.idles, account.staples = dict(result.idles), dict(result.staples)
    account.traffic.note_held(result.held_ends)
    account.traffic.note_pairs(result.request_pairs)
    for check in result.hello_checks:
        account.note_split(check)
    for offer in result.foreign:
        pair = account.foreign.get((offer.issuer_target, offer.version))
        if pair is not None and offer.outcome in _ANSWERED:
            pair.attempts += 1
            pair.accepted += offer.outcome is OfferOutcome.ACCEPTED


def _reached(result: RoundResult) -> set[Address]:
    """Return the backends whose turn came: they were seen, or something went wrong with them."""
    failed = {
        address
        for address, failure in result.failures
        if address is not None and failure.reason is not Reason.UNREACHED
    }
    return failed | {observation.backend for observation in result.observations}


def _begin_round(account: TargetAccount, address: Address) -> None:
    if (backend := account.backends.get(address)) is not None:
        backend.begin_round()
    for version in account.versions.values():
        version.leaves.pop(address, None)


def _fold_verdicts(
    versions: Mapping[TlsVersion, VersionAccount], verdicts: Mapping[TlsVersion, VersionVerdict]
) -> None:
    for version, account in versions.items():
        account.verdict = verdict = verdicts.get(version)
        if verdict is None:
            continue
        account.ratios.extend(verdict.ratios)
        account.mismatches += sum(mismatch.answers for mismatch in verdict.mismatches)
        for event in verdict.events:
            account.key_events[event.kind] += 1
        for crossing in verdict.crossings:
            if crossing.outcome is OfferOutcome.REFUSED:
                account.refusals[crossing.cause or Cause.UNEXPLAINED] += 1


def _fold_observation(account: TargetAccount, observation: Observation) -> None:
    version = account.versions.get(observation.version)
    if version is None:
        return
    backend = account.backends.get(observation.backend)
    session = backend.sessions.get(observation.version) if backend is not None else None
    _count_offer(version, session, observation)
    if isinstance(observation.outcome, Failure):
        return
    handshake = observation.outcome
    _observe_times(version, handshake.mode, handshake.timing)
    version.hello_retries += handshake.tls.hello_retry
    if handshake.http is not None:
        account.traffic.note(handshake)
        if backend is not None:
            backend.traffic.note(handshake, large=account.target.http.large_path is not None)
    if handshake.mode is Mode.FULL:
        version.hello_bytes = handshake.tls.hello_bytes or None
    if handshake.tls.certificate is not None and observation.backend in account.present:
        version.leaves[observation.backend] = handshake.tls.certificate.fingerprint
    if backend is not None:
        _note_rtt(backend, handshake.timing)
        if observation.offer is None and _succeeded(handshake, http=asks(account.target)):
            backend.success = True
    if session is not None:
        _note_session(session, observation.version, handshake)
        if handshake.mode is Mode.FULL:
            _await_offers(session, handshake.tls, aged=account.target.probe.survival)


def _count_offer(version: VersionAccount, session: SessionAccount | None, observation: Observation) -> None:
    if observation.offer is None:
        return
    outcome = outcome_of(observation)
    version.killed += outcome is OfferOutcome.KILLED
    version.not_offered += outcome is OfferOutcome.NOT_OFFERED
    if session is not None and outcome in _ANSWERED:
        session.expect(observation.offer.origin)
        session.attempts[observation.offer.origin] += 1
        session.resumptions[observation.offer.origin] += outcome is OfferOutcome.ACCEPTED


def _observe_times(version: VersionAccount, mode: Mode, timing: Timing) -> None:
    if _clean(timing):
        version.durations[mode].observe(timing.duration)
    if timing.server is not None and not timing.server_disturbed and not timing.server_bound:
        version.server[mode].observe(timing.server)
    if timing.disturbed or timing.server_disturbed:
        version.left_out[LeftOut.DISTURBED] += 1
    elif timing.duration_bound or timing.server_bound:
        version.left_out[LeftOut.UPPER_BOUND] += 1


def _clean(timing: Timing) -> bool:
    return not timing.disturbed and not timing.duration_bound


def _note_rtt(backend: BackendAccount, timing: Timing) -> None:
    if timing.rtt is not None:
        backend.rtt = min(timing.rtt, backend.rtt if backend.rtt is not None else timing.rtt)


def _succeeded(handshake: Handshake, *, http: bool) -> bool:
    """Tell whether all went well that was asked for; an HTTP request that was never sent did not go well."""
    answered = isinstance(handshake.http, HttpAnswer) and handshake.http.unexpected is None
    return handshake.verify_failure is None and (answered or not http)


def _note_session(session: SessionAccount, version: TlsVersion, handshake: Handshake) -> None:
    tls = handshake.tls
    session.tickets += len(tls.tickets)
    session.costs[handshake.mode] = HandshakeCost(tls.received_bytes, tls.sent_bytes, tls.round_trips)
    if _clean(handshake.timing):
        session.seconds[handshake.mode] = handshake.timing.duration
    if handshake.mode is Mode.FULL:
        session.full = full_facts(version, handshake)


def _await_offers(session: SessionAccount, facts: TlsFacts, *, aged: bool) -> None:
    """Note what a full handshake gave that may be offered in later rounds; a session id promises no lifetime."""
    hints = [ticket.lifetime for ticket in facts.tickets] or ([0] if facts.session_id else [])
    session.issued = session.issued or bool(hints)
    if aged and any(hint == 0 or hint > _YOUNGEST_AGED for hint in hints):
        session.expect(Origin.AGED)
