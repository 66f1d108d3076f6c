"""Whose fault a failure is, where we got too little processor time ourselves. Pure."""

from exporter.model.failure import Failure, Reason

_ENDED = frozenset({Reason.RESET, Reason.CLOSED})
_WAITED = frozenset({Reason.TIMEOUT, Reason.STALLED})
_SHORTEST = 0.05  # seconds; a server's own handshake timeouts can be as short as that
_SHARE = 0.2


def is_ours(failure: Failure, lateness: float, timeout: float) -> bool:
    """Say whether a failure may well have come of our own lateness.

    A server that waits for us in vain closes on us, and a deadline of ours passes while its answer lies unread. Nothing
    else that a server does can come of it. That we wait for processor time now and then is no excuse for a server that
    says nothing for seconds, so a deadline must have lost a good share of its time to us.

    Args:
        lateness: seconds for which bytes lay unread, the hello waited to go out, or the deadline was overdue.
        timeout: seconds that the connection may take.
    """
    if failure.reason in _ENDED:
        return lateness >= _SHORTEST
    return failure.reason in _WAITED and lateness >= max(_SHORTEST, _SHARE * timeout)
