"""What can go wrong, as closed lists: where it happened and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Stage(StrEnum):
    """How far a probe came before it failed."""

    RESOLVE = "resolve"
    CONNECT = "connect"
    PROXY = "proxy"
    """Asking an HTTP proxy for a tunnel (RFC 9110 section 9.3.6)."""
    STARTTLS = "starttls"
    """The dialogue in clear that leads to TLS."""
    HANDSHAKE = "handshake"
    VERIFY = "verify"
    HTTP = "http"
    PROBE = "probe"


class Reason(StrEnum):
    """Why it failed; the members that each stage can have are in STAGE_REASONS."""

    NO_SUCH_NAME = "no_such_name"
    NAME_SERVICE = "name_service"

    CONNECTION_REFUSED = "connection_refused"
    UNREACHABLE = "unreachable"
    LOCAL_RESOURCES = "local_resources"

    TIMEOUT = "timeout"
    """Nothing at all came until the deadline."""
    STALLED = "stalled"
    """Some bytes came, but not all of them until the deadline."""
    RESET = "reset"
    CLOSED = "closed"
    NOT_TLS = "not_tls"
    MALFORMED = "malformed"
    MESSAGE_TOO_LARGE = "message_too_large"
    ALERT_HANDSHAKE_FAILURE = "alert_handshake_failure"
    ALERT_PROTOCOL_VERSION = "alert_protocol_version"
    ALERT_UNRECOGNIZED_NAME = "alert_unrecognized_name"
    ALERT_CERTIFICATE = "alert_certificate"
    """Any alert with which the server complains of our certificate, or of having none."""
    ALERT_INTERNAL_ERROR = "alert_internal_error"
    ALERT_OTHER = "alert_other"

    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    SELF_SIGNED = "self_signed"
    UNKNOWN_ISSUER = "unknown_issuer"
    WRONG_NAME = "wrong_name"
    REVOKED = "revoked"
    INVALID_CHAIN = "invalid_chain"

    NOT_OFFERED = "not_offered"
    """The server does not offer TLS in its dialogue."""
    REJECTED = "rejected"
    """The peer understood, and said no."""

    NOT_HTTP = "not_http"
    UNEXPECTED_STATUS = "unexpected_status"
    TOO_LARGE = "too_large"
    FLOODED = "flooded"
    """Frames or interim answers without end, that carry nothing."""
    UNASKED = "unasked"
    """Bytes of an answer to no request."""

    STARVED = "starved"
    """It failed while we got no processor time, so the failure may well be ours."""
    SETTINGS = "settings"
    """The target's own settings cannot be used, such as a CA file that vanished."""
    UNREACHED = "unreached"
    """The round ended before the probe's turn came."""
    BUG = "bug"


ALERTS = (
    Reason.ALERT_HANDSHAKE_FAILURE,
    Reason.ALERT_PROTOCOL_VERSION,
    Reason.ALERT_UNRECOGNIZED_NAME,
    Reason.ALERT_CERTIFICATE,
    Reason.ALERT_INTERNAL_ERROR,
    Reason.ALERT_OTHER,
)
"""The reasons that a server told us itself."""

_STREAM = (Reason.TIMEOUT, Reason.STALLED, Reason.RESET, Reason.CLOSED)

STAGE_REASONS: Mapping[Stage, tuple[Reason, ...]] = MappingProxyType(
    {
        Stage.RESOLVE: (Reason.NO_SUCH_NAME, Reason.NAME_SERVICE, Reason.TIMEOUT),
        Stage.CONNECT: (
            Reason.CONNECTION_REFUSED,
            Reason.UNREACHABLE,
            Reason.TIMEOUT,
            Reason.RESET,
            Reason.LOCAL_RESOURCES,
        ),
        Stage.PROXY: (*_STREAM, Reason.REJECTED, Reason.MALFORMED, Reason.TOO_LARGE),
        Stage.STARTTLS: (*_STREAM, Reason.NOT_OFFERED, Reason.REJECTED, Reason.MALFORMED, Reason.TOO_LARGE),
        Stage.HANDSHAKE: (
            *_STREAM,
            Reason.NOT_TLS,
            Reason.MALFORMED,
            Reason.MESSAGE_TOO_LARGE,
            *ALERTS,
        ),
        Stage.VERIFY: (
            Reason.EXPIRED,
            Reason.NOT_YET_VALID,
            Reason.SELF_SIGNED,
            Reason.UNKNOWN_ISSUER,
            Reason.WRONG_NAME,
            Reason.REVOKED,
            Reason.INVALID_CHAIN,
        ),
        Stage.HTTP: (
            *_STREAM,
            Reason.MALFORMED,
            Reason.NOT_HTTP,
            Reason.UNEXPECTED_STATUS,
            Reason.TOO_LARGE,
            Reason.FLOODED,
            Reason.UNASKED,
            Reason.REJECTED,
        ),
        Stage.PROBE: (Reason.STARVED, Reason.SETTINGS, Reason.UNREACHED, Reason.BUG),
    }
)
"""The closed list: every pair that a Failure can have, and so every series that failures_total can have."""


_SPELT = MappingProxyType({"tls": "TLS", "http": "HTTP"})


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that went wrong.

    Attributes:
        stage: how far the probe came.
        reason: why, one of STAGE_REASONS[stage].
        detail: a few words for people; never a label, never matched.
    """

    stage: Stage
    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        reason = " ".join(_SPELT.get(word, word) for word in self.reason.split("_"))
        words = f"{self.stage}: {reason}"
        return f"{words} ({self.detail})" if self.detail else words
