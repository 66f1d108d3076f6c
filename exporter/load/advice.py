"""What to do about a first connection that failed."""

from exporter.load.orders import Site
from exporter.model.failure import Failure, Reason, Stage

_SILENT = frozenset({Reason.TIMEOUT, Reason.STALLED})


def advise(failure: Failure, site: Site) -> str:
    """Return what whoever asked for the load may look at or change."""
    if failure.reason is Reason.LOCAL_RESOURCES:
        return "this machine has no file or port left: raise `ulimit -n`, or end what holds them"
    if failure.stage is Stage.CONNECT:
        if failure.reason in _SILENT:
            return "look whether a firewall is in between, or raise --timeout"
        return f"look whether a server listens there, on port {site.port}"
    if failure.stage is Stage.HTTP:
        return _advise_http(failure, site)
    return _advise_handshake(failure)


def _advise_handshake(failure: Failure) -> str:
    if failure.reason in _SILENT:
        return "look whether the server is well, or raise --timeout"
    if failure.reason is Reason.NOT_TLS:
        return "name a port that speaks TLS from the first byte"
    if failure.reason is Reason.ALERT_CERTIFICATE:
        return "the server wants a client certificate, and none can be shown: measure where it asks for none"
    if failure.reason is Reason.ALERT_PROTOCOL_VERSION:
        return "the server does not speak that version: name another with --tls"
    return "look into the server's log; it may want another --server-name or --tls, or a client certificate"


def _advise_http(failure: Failure, site: Site) -> str:
    leave_out = "or leave the request out with --no-http"
    if failure.reason is Reason.UNEXPECTED_STATUS:
        return f"the server answers 429 or 5xx to GET {site.path}: name a --path that is well, {leave_out}"
    if failure.reason in _SILENT:
        return f"GET {site.path} is not answered: name a quicker --path, raise --timeout, {leave_out}"
    return f"GET {site.path} is not answered: name another --path, {leave_out}"
