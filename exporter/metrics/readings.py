"""What an account shows, as rows of the table's families."""

from collections.abc import Iterator

from exporter.metrics.account import BackendAccount, SessionAccount, TargetAccount, VersionAccount
from exporter.metrics.cold_readings import read_checks, read_costs, read_full, read_parties
from exporter.metrics.connection_readings import read_backend_traffic, read_traffic
from exporter.metrics.reading import Reading
from exporter.model.failure import Stage
from exporter.model.fingerprint import fingerprint
from exporter.model.target import Address, Expect, Target, TlsVersion
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Census,
    KeyEventKind,
    Mechanism,
    TargetState,
    VersionVerdict,
)


def read_account(account: TargetAccount, salt: bytes) -> Iterator[Reading]:
    """Yield everything that is shown of one target; `salt` goes into the fingerprints of key names."""
    yield from _target(account)
    yield from _settings(account.target)
    yield from read_traffic(account)
    for tls, version in account.versions.items():
        yield from _version((account.target.name, tls), version)
    for (issuer, tls), offers in account.foreign.items():
        at = (account.target.name, issuer, tls)
        yield Reading("foreign_ticket_attempts_total", at, offers.attempts)
        yield Reading("foreign_tickets_accepted_total", at, offers.accepted)
    for address, backend in account.backends.items():
        yield from _backend(account, address, backend, salt)


def _target(account: TargetAccount) -> Iterator[Reading]:
    target = (account.target.name,)
    yield Reading("rounds_total", target, account.rounds)
    yield Reading("round_overruns_total", target, account.overruns)
    yield Reading("series_capped_total", target, account.capped)
    yield Reading("backends_left_out_total", target, account.left_out)
    yield from _failures(account)
    if account.ended is not None:
        yield Reading("last_round_timestamp_seconds", target, account.ended)
        yield Reading("backends", target, len(account.present))


def _failures(account: TargetAccount) -> Iterator[Reading]:
    """Yield the failures that there can be, and those that there were."""
    asked = {Stage.PROXY: account.target.proxy is not None, Stage.STARTTLS: account.target.starttls is not None}
    for (stage, reason), count in account.failures.items():
        if count or asked.get(stage, True):
            yield Reading("failures_total", (account.target.name, stage, reason), count)


def _settings(target: Target) -> Iterator[Reading]:
    name = (target.name,)
    yield Reading("target_info", name, 1, target.labels)
    yield Reading("interval_seconds", name, target.interval)
    yield Reading("expect_resumption", (*name, target.expect.resumption), 1)
    for family, promised in _promises(target.expect):
        if promised is not None:
            yield Reading(family, name, promised)


def _promises(expect: Expect) -> Iterator[tuple[str, float | None]]:
    yield "expected_backends", expect.min_backends
    yield "expect_min_backends", expect.min_backends
    yield "expect_rotation_seconds", expect.rotation
    yield "expect_ticket_life_ratio", expect.ticket_life
    yield "expect_keepalive_idle_seconds", expect.keepalive_idle


def _version(labels: tuple[str, TlsVersion], version: VersionAccount) -> Iterator[Reading]:
    for mode, duration in version.durations.items():
        yield Reading("handshake_duration_seconds", (*labels, mode), duration.freeze())
    for mode, server in version.server.items():
        yield Reading("handshake_server_seconds", (*labels, mode), server.freeze())
    for reason, count in version.left_out.items():
        yield Reading("handshake_samples_left_out_total", (*labels, reason), count)
    for cause, count in version.refusals.items():
        yield Reading("resumption_refusals_total", (*labels, cause), count)
    yield Reading("resumption_killed_total", labels, version.killed)
    yield Reading("tickets_not_offered_total", labels, version.not_offered)
    yield Reading("ticket_key_changes_total", labels, version.key_events[KeyEventKind.CHANGE])
    yield Reading("ticket_key_breaks_total", labels, version.key_events[KeyEventKind.BREAK])
    if labels[1] is not TlsVersion.TLS12:  # a HelloRetryRequest came with RFC 8446
        yield Reading("hello_retries_total", labels, version.hello_retries)
    if (ratio := version.median_ratio) is not None:
        yield Reading("resumed_to_full_time_ratio", labels, ratio)
    if version.hello_bytes is not None:
        yield Reading("client_hello_bytes", labels, version.hello_bytes)
    if version.leaves:
        yield Reading("certificates", labels, len(set(version.leaves.values())))
    if version.verdict is not None:
        yield from _target_verdict(labels, version.verdict)


def _target_verdict(labels: tuple[str, ...], verdict: VersionVerdict) -> Iterator[Reading]:
    for state in TargetState:
        yield Reading("ticket_key_state", (*labels, state), state is verdict.state)
    if verdict.groups is not None:
        yield Reading("ticket_key_groups", labels, verdict.groups)
    yield from read_parties(labels, verdict)


def _backend(account: TargetAccount, address: Address, backend: BackendAccount, salt: bytes) -> Iterator[Reading]:
    labels = (account.target.name, str(address))
    if backend.success is not None:
        yield Reading("success", labels, backend.success)
    if backend.rtt is not None:
        yield Reading("rtt_seconds", labels, backend.rtt)
    yield from read_backend_traffic(account, address, backend.traffic)
    yield from read_checks(account, address)
    for tls, version in account.versions.items():
        at = (*labels, tls)
        if (supported := account.supported.get((address, tls))) is not None:
            yield Reading("version_supported", at, supported)
        verdict = version.verdict.backends.get(address) if version.verdict is not None else None
        if verdict is not None:
            yield from _backend_verdict(at, verdict, salt)
        if (session := backend.sessions.get(tls)) is None:
            continue
        yield from _session(at, session, verdict.mechanism if verdict is not None else Mechanism.UNKNOWN)
        if verdict is not None and (session.tickets or verdict.weakness is not None):
            yield Reading("ticket_key_weak", at, verdict.weakness is not None)


def _backend_verdict(labels: tuple[str, ...], verdict: BackendVerdict, salt: bytes) -> Iterator[Reading]:
    for state in BackendState:
        yield Reading("backend_state", (*labels, state), state is verdict.state)
    if verdict.key_group is not None:
        yield Reading("ticket_key_group", labels, verdict.key_group)
    if verdict.key_name is not None:
        yield Reading("ticket_key_fingerprint", labels, fingerprint(verdict.key_name, salt))
    if verdict.key_since is not None:
        yield Reading("ticket_key_first_seen_timestamp_seconds", labels, verdict.key_since)
    if verdict.keys_seen:
        yield Reading("ticket_keys_seen", labels, verdict.keys_seen)
    if (accepted := verdict.survival.oldest_accepted) is not None:
        yield Reading("ticket_oldest_accepted_seconds", labels, accepted)
    if (refused := verdict.survival.youngest_refused) is not None:
        yield Reading("ticket_youngest_refused_seconds", labels, refused)
    if verdict.census is not None:
        yield from _census(labels, verdict.census)


def _census(labels: tuple[str, ...], census: Census) -> Iterator[Reading]:
    if census.keys:
        yield Reading("ticket_key_census_keys", labels, census.keys)
    yield Reading("ticket_key_census_offers", labels, census.offers)
    yield Reading("ticket_key_census_hits", labels, census.hits)


def _session(labels: tuple[str, ...], session: SessionAccount, mechanism: Mechanism) -> Iterator[Reading]:
    for origin, attempts in session.attempts.items():
        yield Reading("resumption_attempts_total", (*labels, origin), attempts)
        yield Reading("resumptions_total", (*labels, origin), session.resumptions[origin])
    yield Reading("tickets_received_total", labels, session.tickets)
    for mode, seconds in session.seconds.items():
        yield Reading("backend_handshake_seconds", (*labels, mode), seconds)
    yield from read_costs(labels, session)
    if session.full is not None:
        yield from read_full(labels, session.full, mechanism)
