"""Facts of the last full handshake with each backend."""

from collections.abc import Mapping
from functools import lru_cache

from exporter.model.observation import Certificate, Handshake, Mode
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import RoundResult
from exporter.web.status.facts import CertificateFacts, HandshakeFacts, Story

_NAMES = 8
_CHARACTERS = 200


def newest_handshakes(story: Story, result: RoundResult) -> Mapping[tuple[Address, TlsVersion], HandshakeFacts]:
    """Return what the last full handshake with each backend showed, of this round or of an earlier one."""
    known = {
        (backend, version): found.handshake
        for version, facts in story.versions.items()
        for backend, found in facts.backends.items()
        if found.handshake is not None
    }
    for seen in result.observations:
        if isinstance(seen.outcome, Handshake) and seen.outcome.mode is Mode.FULL:
            known[seen.backend, seen.version] = _facts(seen.outcome, result.started)
    return known


def _facts(shaken: Handshake, at: float) -> HandshakeFacts:
    tls, timing = shaken.tls, shaken.timing
    return HandshakeFacts(
        at=at,
        cipher=tls.cipher,
        group=tls.group,
        alpn=tls.alpn[:_CHARACTERS],
        duration=timing.duration,
        server=timing.server,
        rtt=timing.rtt,
        round_trips=tls.round_trips,
        sent_bytes=tls.sent_bytes,
        received_bytes=tls.received_bytes,
        hello_retry=tls.hello_retry,
        tickets=len(tls.tickets),
        lifetimes=tuple(sorted({ticket.lifetime for ticket in tls.tickets})),
        certificate=None if tls.certificate is None else _certificate(tls.certificate),
        name_matches=tls.name_matches,
        problem=shaken.verify_failure,
    )


@lru_cache(maxsize=256)
def _certificate(leaf: Certificate) -> CertificateFacts:
    """Return the facts of a leaf, the same object for all backends that show it."""
    return CertificateFacts(
        sha256=leaf.fingerprint.hex(),
        subject=leaf.subject[:_CHARACTERS],
        issuer=leaf.issuer[:_CHARACTERS],
        names=tuple(name[:_CHARACTERS] for name in leaf.names[:_NAMES]),
        name_count=max(leaf.name_count, len(leaf.names)),
        key_type=leaf.key_type,
        signature_algorithm=leaf.signature_algorithm,
        not_before=leaf.not_before,
        not_after=leaf.not_after,
        chain_count=leaf.chain_count,
        chain_bytes=leaf.chain_bytes,
    )
