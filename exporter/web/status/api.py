"""What the status pages show, as plain JSON values. Times are Unix times, lengths of time seconds, unknown is null."""

from collections.abc import Iterable, Sequence
from typing import Any

from exporter.model.source import BackendFacts as Place
from exporter.model.target import TlsVersion
from exporter.web.status.facts import (
    BackendFacts,
    CertificateFacts,
    HandshakeFacts,
    RoundPoint,
    Story,
    Tone,
    Trouble,
    VersionFacts,
)
from exporter.web.status.words import address_of, overdue, recent, tone_of

_TONES = {
    Tone.DOWN: "down",
    Tone.FINDING: "finding",
    Tone.NOTICE: "changing",
    Tone.WAITING: "waiting",
    Tone.WELL: "well",
}


def overview_document(stories: Sequence[Story], version: str, now: float) -> dict[str, Any]:
    """Return all targets, the worst first."""
    return {"version": version, "now": now, "targets": [summary_document(story, now) for story in rank(stories, now)]}


def rank(stories: Iterable[Story], now: float) -> list[Story]:
    """Return the worst first."""
    return sorted(stories, key=lambda story: (tone_of(story, now), story.target.name))


def summary_document(story: Story, now: float) -> dict[str, Any]:
    """Return what the row of a target tells."""
    return {
        "target": story.target.name,
        "path": f"api/v1/{address_of(story.target)}",
        "address": str(story.target.endpoint),
        "server_name": story.target.server_name,
        "labels": dict(story.target.labels),
        "status": _TONES[tone_of(story, now)],
        "overdue": overdue(story, now),
        "interval": story.target.interval,
        "last_round": story.last_end,
        "backends": [str(backend) for backend in story.backends],
        "versions": [
            {
                "tls": version,
                "state": facts.state,
                "healthy": facts.healthy,
                "text": facts.text,
                "advice": facts.advice,
                "key_groups": facts.groups,
                "odd_backends": [str(backend) for backend in facts.odd],
                "recent": _recent(story, version),
            }
            for version, facts in story.versions.items()
        ],
    }


def target_document(story: Story, now: float) -> dict[str, Any]:
    """Return all that the page of a target tells."""
    return {
        **summary_document(story, now),
        "remarks": [{"text": remark.text, "well": remark.well} for remark in story.remarks],
        "connections": [{"text": remark.text, "well": remark.well} for remark in story.connections],
        "left_out": story.left_out,
        "places": {str(backend): _place(place, backend in story.backends) for backend, place in story.places.items()},
        "places_not_shown": story.unplaced,
        "by_version": {version: _version(facts) for version, facts in story.versions.items()},
        "rounds": [_round(point) for point in story.rounds],
        "events": [{"at": event.at, "text": event.text, "bad": event.bad} for event in story.events],
        "failures": [_trouble(trouble) for trouble in story.troubles],
        "log": [{"at": line.at, "text": line.text, "warning": line.warning} for line in story.log],
    }


def _place(place: Place, probed: bool) -> dict[str, Any]:
    return {
        "probed": probed,
        "ready": place.ready,
        "serving": place.serving,
        "terminating": place.terminating,
        "pod": place.pod,
        "node": place.node,
        "zone": place.zone,
    }


def _recent(story: Story, version: TlsVersion) -> dict[str, Any]:
    full, resumed, offers, hits = recent(story.rounds, version)
    return {"full_seconds": full, "resumed_seconds": resumed, "offers": offers, "accepted": hits}


def _version(facts: VersionFacts) -> dict[str, Any]:
    return {
        "backends": {str(backend): _backend(found) for backend, found in facts.backends.items()},
        "offers": [
            {"issuer": str(issuer), "acceptor": str(acceptor), "outcome": cell.outcome, "round": cell.number,
             "cause": cell.cause}
            for (issuer, acceptor), cell in facts.cells.items()
        ],
        "states": [{"since": span.since, "state": span.state} for span in facts.states],
        "lanes": {
            str(backend): [{"since": span.since, "key_group": span.group, "state": span.state} for span in spans]
            for backend, spans in facts.lanes.items()
        },
    }  # fmt: skip


def _backend(found: BackendFacts) -> dict[str, Any]:
    return {
        "state": found.state,
        "mechanism": found.mechanism,
        "key_group": found.group,
        "key_fingerprint": found.key,
        "key_since": found.key_since,
        "keys_seen": found.keys_seen,
        "oldest_accepted_seconds": found.oldest_accepted,
        "youngest_refused_seconds": found.youngest_refused,
        "failure": None if found.failure is None else str(found.failure),
        "handshake": None if found.handshake is None else _handshake(found.handshake),
    }


def _handshake(shaken: HandshakeFacts) -> dict[str, Any]:
    return {
        "at": shaken.at,
        "cipher": shaken.cipher,
        "group": shaken.group,
        "alpn": shaken.alpn,
        "duration_seconds": shaken.duration,
        "server_seconds": shaken.server,
        "rtt_seconds": shaken.rtt,
        "round_trips": shaken.round_trips,
        "sent_bytes": shaken.sent_bytes,
        "received_bytes": shaken.received_bytes,
        "hello_retry": shaken.hello_retry,
        "tickets": shaken.tickets,
        "ticket_lifetimes_seconds": list(shaken.lifetimes),
        "name_matches": shaken.name_matches,
        "not_verified": None if shaken.problem is None else str(shaken.problem),
        "certificate": None if shaken.certificate is None else _certificate(shaken.certificate),
    }


def _certificate(leaf: CertificateFacts) -> dict[str, Any]:
    return {
        "sha256": leaf.sha256,
        "subject": leaf.subject,
        "issuer": leaf.issuer,
        "names": list(leaf.names),
        "name_count": leaf.name_count,
        "key_type": leaf.key_type,
        "signature_algorithm": leaf.signature_algorithm,
        "not_before": leaf.not_before,
        "not_after": leaf.not_after,
        "chain_count": leaf.chain_count,
        "chain_bytes": leaf.chain_bytes,
    }


def _round(point: RoundPoint) -> dict[str, Any]:
    return {
        "number": point.number,
        "started": point.started,
        "elapsed": point.elapsed,
        "status": _TONES[point.tone],
        "by_version": {
            each.tls: {
                "full_seconds": each.full,
                "resumed_seconds": each.resumed,
                "server_seconds": each.server,
                "offers": each.offers,
                "accepted": each.hits,
            }
            for each in point.points
        },
    }


def _trouble(trouble: Trouble) -> dict[str, Any]:
    return {
        "backend": None if trouble.backend is None else str(trouble.backend),
        "stage": trouble.failure.stage,
        "reason": trouble.failure.reason,
        "detail": trouble.failure.detail,
        "first": trouble.first,
        "last": trouble.last,
        "count": trouble.count,
    }
