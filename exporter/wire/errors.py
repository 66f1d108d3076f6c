"""The one table from what the TLS library and the peer say to a Failure."""

import ssl
from collections.abc import Mapping
from types import MappingProxyType

from exporter.model.failure import Failure, Reason, Stage
from exporter.wire.records import plausible

_ALERTS: Mapping[int, str] = MappingProxyType(
    {
        0: "close_notify",
        10: "unexpected_message",
        20: "bad_record_mac",
        21: "decryption_failed",
        22: "record_overflow",
        30: "decompression_failure",
        40: "handshake_failure",
        41: "no_certificate",
        42: "bad_certificate",
        43: "unsupported_certificate",
        44: "certificate_revoked",
        45: "certificate_expired",
        46: "certificate_unknown",
        47: "illegal_parameter",
        48: "unknown_ca",
        49: "access_denied",
        50: "decode_error",
        51: "decrypt_error",
        60: "export_restriction",
        70: "protocol_version",
        71: "insufficient_security",
        80: "internal_error",
        86: "inappropriate_fallback",
        90: "user_canceled",
        100: "no_renegotiation",
        109: "missing_extension",
        110: "unsupported_extension",
        111: "certificate_unobtainable",
        112: "unrecognized_name",
        113: "bad_certificate_status_response",
        114: "bad_certificate_hash_value",
        115: "unknown_psk_identity",
        116: "certificate_required",
        120: "no_application_protocol",
        121: "ech_required",
    }
)
"""IANA, TLS Alerts."""

_ALERT_REASONS: Mapping[int, Reason] = MappingProxyType(
    {
        40: Reason.ALERT_HANDSHAKE_FAILURE,
        71: Reason.ALERT_HANDSHAKE_FAILURE,  # RFC 8446 section 6.2: sent instead of handshake_failure
        70: Reason.ALERT_PROTOCOL_VERSION,
        80: Reason.ALERT_INTERNAL_ERROR,
        112: Reason.ALERT_UNRECOGNIZED_NAME,
        **dict.fromkeys((41, 42, 43, 44, 45, 46, 48, 49, 116), Reason.ALERT_CERTIFICATE),
    }
)

# The library names an alert that it received by one of these and the alert's registry name.
_ALERT_SYMBOLS: Mapping[str, int] = MappingProxyType(
    {
        prefix + name.upper(): number
        for number, name in _ALERTS.items()
        for prefix in ("SSLV3_ALERT_", "TLSV1_ALERT_", "TLSV13_ALERT_", "TLSV1_")
    }
    | {"TLSV1_ALERT_USER_CANCELLED": 90}
)

_SYMBOLS: Mapping[str, Reason] = MappingProxyType(
    {
        "EXCESSIVE_MESSAGE_SIZE": Reason.MESSAGE_TOO_LARGE,
        "UNSUPPORTED_PROTOCOL": Reason.ALERT_PROTOCOL_VERSION,
        "WRONG_SSL_VERSION": Reason.ALERT_PROTOCOL_VERSION,
    }
)
"""The library's own verdicts by their symbols; any other is a malformed message."""

_VERIFY_REASONS: Mapping[int, Reason] = MappingProxyType(
    {
        2: Reason.UNKNOWN_ISSUER,
        9: Reason.NOT_YET_VALID,
        10: Reason.EXPIRED,
        18: Reason.SELF_SIGNED,
        19: Reason.SELF_SIGNED,
        20: Reason.UNKNOWN_ISSUER,
        21: Reason.UNKNOWN_ISSUER,
        23: Reason.REVOKED,
        62: Reason.WRONG_NAME,
        64: Reason.WRONG_NAME,
    }
)
"""X509_V_ERR numbers of OpenSSL's x509_vfy.h."""

_VERSIONS = {0x0300: "SSL 3.0", 0x0301: "TLS 1.0", 0x0302: "TLS 1.1", 0x0303: "TLS 1.2", 0x0304: "TLS 1.3"}


def alert_failure(number: int) -> Failure:
    """Return the failure that an alert from the peer is, with the alert's registry name for its detail."""
    reason = _ALERT_REASONS.get(number, Reason.ALERT_OTHER)
    return Failure(Stage.HANDSHAKE, reason, _ALERTS.get(number, f"alert {number}"))


def other_version(version: int) -> Failure:
    """Return the failure that a ServerHello of another version than the one asked for is."""
    name = _VERSIONS.get(version, f"version 0x{version:04x}")
    return Failure(Stage.HANDSHAKE, Reason.ALERT_PROTOCOL_VERSION, f"the server answered with {name}")


def library_failure(error: OSError, *, start: bytes, alert: int | None) -> Failure:
    """Return the failure that an error of the ssl module is.

    Args:
        error: what the module raised.
        start: the first bytes that the peer sent.
        alert: the last alert that the peer was seen to send, for those that the library has no symbol for.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = _VERIFY_REASONS.get(error.verify_code, Reason.INVALID_CHAIN)
        return Failure(Stage.VERIFY, reason, error.verify_message)
    if isinstance(error, ssl.SSLZeroReturnError):
        return Failure(Stage.HANDSHAKE, Reason.CLOSED, "close_notify")
    if not plausible(start):
        return Failure(Stage.HANDSHAKE, Reason.NOT_TLS)
    symbol: str | None = getattr(error, "reason", None)
    number = alert if symbol is None else _ALERT_SYMBOLS.get(symbol)
    if number is not None:
        return alert_failure(number)
    symbol = symbol or "PROTOCOL_ERROR"
    return Failure(Stage.HANDSHAKE, _SYMBOLS.get(symbol, Reason.MALFORMED), symbol.replace("_", " ").lower())
