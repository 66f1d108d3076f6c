"""Words for a failure that looks as if something ahead of TLS were missing or unwanted.

What real servers do: nginx and HAProxy reset a connection that lacks the PROXY protocol's header where they expect it.
Where they do not, nginx answers it by 400 in clear, and HAProxy closes. PostgreSQL and OpenLDAP close without a word
when TLS begins at once; those who speak first, such as mail servers, greet in clear.
"""

from collections.abc import Mapping
from types import MappingProxyType

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import StartTls, Target

_PORTS: Mapping[int, StartTls] = MappingProxyType(
    {
        21: StartTls.FTP,
        25: StartTls.SMTP,
        110: StartTls.POP3,
        143: StartTls.IMAP,
        389: StartTls.LDAP,
        587: StartTls.SMTP,
        3306: StartTls.MYSQL,
        5432: StartTls.POSTGRESQL,
    }
)
"""Where a server begins in clear, by IANA's registry."""

_BROKEN_OFF = frozenset({Reason.CLOSED, Reason.RESET})
_HEADER_MISSING = (
    "closed before it said anything: a listener that expects the PROXY protocol does that (proxy_protocol)"
)
_HEADER_UNWANTED = "a listener that expects no PROXY protocol's header does that (proxy_protocol)"
_TLS_AT_ONCE = "it said nothing: a server that speaks TLS at once waits for us (starttls)"
_CLEAR_TEXT = "it answered in clear: plain HTTP does that, or a protocol that turns to TLS later (starttls)"


def likely(target: Target, failure: Failure, started: bool) -> str:
    """Return words to add to a failure's detail, "" where nothing is likely.

    They are worth saying of a backend that never shook hands; of one that did before, something else is likelier.

    Args:
        target: what was set.
        failure: of a connection that offered no session.
        started: whether any byte of the peer's came in the stage that failed.
    """
    if failure.stage is Stage.HANDSHAKE:
        return _after_hello(target, failure.reason, silent=not started)
    if failure.stage is Stage.STARTTLS:
        return _in_dialogue(target, failure.reason, silent=not started)
    return ""


def _after_hello(target: Target, reason: Reason, *, silent: bool) -> str:
    in_clear = reason is Reason.NOT_TLS
    broken_off = silent and reason in _BROKEN_OFF
    if target.starttls is not None or not (in_clear or broken_off):
        return ""
    if target.proxy_protocol is not None:
        return _HEADER_UNWANTED
    dialogue = _PORTS.get(target.endpoint.port)
    if dialogue is not None:
        return f"at port {target.endpoint.port} TLS begins after a dialogue in clear (starttls: {dialogue})"
    return _CLEAR_TEXT if in_clear else _HEADER_MISSING


def _in_dialogue(target: Target, reason: Reason, *, silent: bool) -> str:
    if not silent:
        confused = reason in {Reason.REJECTED, Reason.MALFORMED}
        return _HEADER_UNWANTED if confused and target.proxy_protocol is not None else ""
    if reason is Reason.TIMEOUT:
        return _TLS_AT_ONCE
    if reason in _BROKEN_OFF:
        return _HEADER_MISSING if target.proxy_protocol is None else _HEADER_UNWANTED
    return ""
