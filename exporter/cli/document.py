"""A summary of rounds as a program reads it. Ticket bytes and key names are not in it."""

from dataclasses import asdict
from typing import Any

from exporter.cli.connections import connections_document
from exporter.cli.summary import BackendSummary, Summary, VersionSummary
from exporter.model.observation import Certificate, Ticket, TlsFacts


def to_document(summary: Summary) -> dict[str, Any]:
    """Return a summary as plain JSON values; times in seconds, None where unknown."""
    return {
        "target": summary.target.name,
        "address": str(summary.target.endpoint),
        "server_name": summary.target.server_name,
        "rounds": summary.rounds,
        "healthy": summary.healthy,
        "versions": [_version(version) for version in summary.versions],
        "backends": [_backend(backend) for backend in summary.backends],
        "failures": [
            {
                "backend": None if backend is None else str(backend),
                "stage": failure.stage,
                "reason": failure.reason,
                "detail": failure.detail,
                "count": count,
            }
            for backend, failure, count in summary.failures
        ],
        "connections": connections_document(summary.connections),
    }


def _version(version: VersionSummary) -> dict[str, Any]:
    return {
        "tls": version.version,
        "state": version.state,
        "healthy": version.healthy,
        "text": version.text,
        "advice": version.advice,
        "key_groups": version.groups,
        "odd_backends": [str(backend) for backend in version.odd],
        "resumed_to_full_time_ratio": version.ratio,
        "pairs": version.pairs,
    }


def _backend(backend: BackendSummary) -> dict[str, Any]:
    return {
        "backend": str(backend.backend),
        "tls": backend.version,
        "state": backend.state,
        "mechanism": backend.mechanism,
        "key": None if backend.key is None else f"{backend.key:08x}",
        "key_fingerprint": backend.key,
        "key_group": backend.key_group,
        "rtt_seconds": backend.rtt,
        "full_seconds": backend.full,
        "resumed_seconds": backend.resumed,
        "server_seconds": backend.server,
        "cipher": backend.cipher,
        "group": backend.group,
        "alpn": backend.alpn,
        "verified": backend.verified,
        "certificate": None if backend.certificate is None else _certificate(backend.certificate),
        "tickets": [_ticket(ticket) for ticket in backend.tickets],
        "cold_handshake": None if backend.cold is None else _cold(backend.cold),
        "at_home": {str(outcome): count for outcome, count in backend.home.items()},
        "at_the_next": {str(outcome): count for outcome, count in backend.neighbour.items()},
        "key_since": backend.verdict.key_since,
        "keys_seen": backend.verdict.keys_seen,
        "weakness": backend.verdict.weakness,
        "dangers": list(backend.verdict.dangers),
        "oldest_accepted_seconds": backend.verdict.survival.oldest_accepted,
        "youngest_refused_seconds": backend.verdict.survival.youngest_refused,
        "census": None if backend.verdict.census is None else asdict(backend.verdict.census),
        "failure": None if backend.failure is None else str(backend.failure),
    }


def _certificate(certificate: Certificate) -> dict[str, Any]:
    return {
        "sha256": certificate.fingerprint.hex(),
        "subject": certificate.subject,
        "issuer": certificate.issuer,
        "key_type": certificate.key_type,
        "signature_algorithm": certificate.signature_algorithm,
        "not_before": certificate.not_before,
        "not_after": certificate.not_after,
        "names": list(certificate.names),
        "chain_bytes": certificate.chain_bytes,
        "chain_count": certificate.chain_count,
        "name_count": certificate.name_count,
    }


def _cold(facts: TlsFacts) -> dict[str, Any]:
    return {
        "round_trips": facts.round_trips,
        "hello_retry": facts.hello_retry,
        "hello_bytes": facts.hello_bytes,
        "sent_bytes": facts.sent_bytes,
        "received_bytes": facts.received_bytes,
        "name_matches": facts.name_matches,
        "extended_master_secret": facts.extended_master_secret,
    }


def _ticket(ticket: Ticket) -> dict[str, Any]:
    return {
        "bytes": len(ticket.identity),
        "lifetime_seconds": ticket.lifetime,
        "max_early_data_bytes": ticket.max_early_data,
    }
