"""From the operating system's errors to failures: the one table."""

import errno

from exporter.model.failure import Failure, Reason, Stage

_REASONS = {
    errno.ECONNREFUSED: Reason.CONNECTION_REFUSED,
    errno.ECONNRESET: Reason.RESET,
    errno.EPIPE: Reason.RESET,
    errno.ETIMEDOUT: Reason.TIMEOUT,
    errno.EHOSTUNREACH: Reason.UNREACHABLE,
    errno.ENETUNREACH: Reason.UNREACHABLE,
    errno.EHOSTDOWN: Reason.UNREACHABLE,
    errno.ENETDOWN: Reason.UNREACHABLE,
    errno.EAFNOSUPPORT: Reason.UNREACHABLE,
    errno.EACCES: Reason.UNREACHABLE,
    errno.EPERM: Reason.UNREACHABLE,
    errno.EINVAL: Reason.UNREACHABLE,
    errno.EMFILE: Reason.LOCAL_RESOURCES,
    errno.ENFILE: Reason.LOCAL_RESOURCES,
    errno.ENOBUFS: Reason.LOCAL_RESOURCES,
    errno.ENOMEM: Reason.LOCAL_RESOURCES,
    errno.EADDRNOTAVAIL: Reason.LOCAL_RESOURCES,
}


def explain_connect(error: OSError) -> Failure:
    """Return why a TCP connection did not come about; an error that the table lacks is `unreachable`."""
    return Failure(Stage.CONNECT, _REASONS.get(error.errno or 0, Reason.UNREACHABLE), _name(error))


def explain_stream(stage: Stage, error: OSError) -> Failure:
    """Return why a connection that stood broke in `stage`."""
    known = _REASONS.get(error.errno or 0, Reason.RESET)
    return Failure(stage, known if known is Reason.TIMEOUT else Reason.RESET, _name(error))


def _name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, type(error).__name__)
