"""What a stapled OCSP answer says (RFC 6960 section 4.2), read so that no content of it can raise."""

import warnings

from cryptography import x509
from cryptography.x509 import ocsp

from exporter.model.connections import Staple, StapleStatus
from exporter.wire.certificate import UNREADABLE

_STATUSES = {
    ocsp.OCSPCertStatus.GOOD: StapleStatus.GOOD,
    ocsp.OCSPCertStatus.REVOKED: StapleStatus.REVOKED,
    ocsp.OCSPCertStatus.UNKNOWN: StapleStatus.UNKNOWN,
}
_MOST_ANSWERS = 64


def read_staple(der: bytes | None, now: float, leaf: bytes | None = None) -> Staple:
    """Return what an OCSP response says of a certificate; its signature is not verified.

    Args:
        der: the response in DER form; None where nothing was stapled.
        now: Unix time in seconds.
        leaf: the certificate in DER form; a response that tells of other serial numbers alone is unreadable then.
    """
    if der is None:
        return Staple(StapleStatus.NONE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is odd in a response, none of our own doing
        try:
            return _read(der, now, leaf)
        except UNREADABLE:
            return Staple(StapleStatus.UNREADABLE)


def _read(der: bytes, now: float, leaf: bytes | None) -> Staple:
    response = ocsp.load_der_ocsp_response(der)
    if response.response_status is not ocsp.OCSPResponseStatus.SUCCESSFUL:
        return Staple(StapleStatus.UNREADABLE)
    serial = x509.load_der_x509_certificate(leaf).serial_number if leaf else None
    produced = response.produced_at_utc.timestamp()
    answers = (one for one, _ in zip(response.responses, range(_MOST_ANSWERS), strict=False))
    staples = [_staple(one, produced, now) for one in answers if serial in {None, one.serial_number}]
    if not staples:
        return Staple(StapleStatus.UNREADABLE, produced)
    return next((one for one in staples if one.status is StapleStatus.REVOKED), None) or max(staples, key=_freshness)


def _staple(answer: ocsp.OCSPSingleResponse, produced: float, now: float) -> Staple:
    """Read one answer; a revocation does not grow old, anything else does (RFC 6960 section 3.2)."""
    this_update = answer.this_update_utc.timestamp()
    end = answer.next_update_utc
    next_update = end.timestamp() if end else None
    status = _STATUSES[answer.certificate_status]
    if status is not StapleStatus.REVOKED and next_update is not None and next_update < now:
        status = StapleStatus.EXPIRED
    return Staple(status, produced, this_update, next_update)


def _freshness(staple: Staple) -> float:
    return staple.this_update or 0.0
