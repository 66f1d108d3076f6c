"""Why a ticket was refused, as far as that shows from outside."""

from exporter.model.observation import Offer, TlsFacts
from exporter.model.target import TlsVersion
from exporter.model.verdicts import Cause
from exporter.verdict.mechanism import LONG_NAME


def cause_of(
    offer: Offer,
    acceptor: TlsFacts,
    issuer: TlsFacts | None,
    *,
    keys: tuple[bytes | None, bytes | None],
    spent: bool,
) -> Cause:
    """Lay a refusal to what is seen to explain it, and to nothing where nothing is.

    Args:
        offer: what was refused.
        acceptor: facts of the handshake that refused it.
        issuer: facts of a full handshake with its issuer in the same round, None where there was none.
        keys: names of the keys of the refused ticket and of the one that came in its place, None where not visible.
        spent: the acceptor took this very ticket before, and still takes fresh ones.
    """
    offered_key, issued_key = keys
    if offer.ticket is not None and 0 < offer.ticket.lifetime <= offer.age:
        return Cause.EXPIRED
    if offered_key is not None and issued_key is not None and offered_key != issued_key:
        return Cause.KEY
    if spent:
        return Cause.SINGLE_USE
    if offer.ticket is None and _speak_only_tls12(acceptor, issuer):
        return Cause.SESSION_ID
    if offered_key is None or offered_key != issued_key or len(offered_key) < LONG_NAME or issuer is None:
        return Cause.UNEXPLAINED
    return _difference(acceptor, issuer)


def _speak_only_tls12(acceptor: TlsFacts, issuer: TlsFacts | None) -> bool:
    """Tell whether a session without a ticket must be one that is known by its id; TLS 1.3 has tickets alone."""
    return {facts.version for facts in (acceptor, issuer) if facts is not None} == {TlsVersion.TLS12}


def _difference(acceptor: TlsFacts, issuer: TlsFacts) -> Cause:
    """Name what differs between two backends whose keys bear the same name (RFC 8446 section 4.6.1)."""
    if acceptor.version is not issuer.version:
        return Cause.VERSION
    leaves = [facts.certificate.fingerprint for facts in (acceptor, issuer) if facts.certificate is not None]
    if len(set(leaves)) > 1:
        return Cause.CERTIFICATE
    return Cause.CIPHER if acceptor.cipher != issuer.cipher else Cause.UNEXPLAINED
