"""The first connections to a site, at leisure: do they work, do they resume, and when do tickets come?"""

import select
import ssl
import time

from exporter.load.advice import advise
from exporter.load.entrance import Entrance
from exporter.load.orders import Scouted
from exporter.load.visit import Visit
from exporter.model.failure import Failure, Stage
from exporter.probe.errors import explain_connect
from exporter.wire.handles import Handle, take

_TICKET_SECONDS = 0.3
"""A server that has sent no ticket by then sends none before a request."""


def scout(entrance: Entrance, *, politely: bool = False) -> Scouted:
    """Learn how a site behaves, and give the entrance a session that it can offer.

    Args:
        politely: say goodbye even where that should do nothing for the session.
    """
    entrance.session, entrance.single_use, entrance.awaits_tickets = None, False, False
    entrance.says_goodbye = True
    first = _visit(entrance, resume=False)
    if isinstance(first, Failure):
        return _problem(first, entrance)
    tls = first.link.tls
    if not entrance.request and tls.version() == "TLSv1.3":
        more = _hear_more(first)
        if isinstance(more, Failure):
            first.link.close(politely=False)
            return _problem(more, entrance)
        entrance.awaits_tickets = more
    version, cipher = tls.version() or "", tls.cipher()
    entrance.session = take(tls)
    entrance.says_goodbye = politely or not _is_whole(entrance.session, version)
    first.link.close(politely=True)
    resumes = _resumes(entrance)
    lasts = resumes and _resumes(entrance)
    if not lasts and not entrance.says_goodbye:
        # The ticket may have been a mere name, of a session that the server dropped since we said no goodbye.
        return scout(entrance, politely=True)
    entrance.single_use = resumes and not lasts
    return Scouted(version=version, cipher=cipher[0] if cipher else "", resumes=resumes, single_use=entrance.single_use)


def _problem(failure: Failure, entrance: Entrance) -> Scouted:
    return Scouted(problem=f"the first connection failed, {failure}: {advise(failure, entrance.site)}")


def _is_whole(session: Handle | None, version: str) -> bool:
    """Say whether the ticket holds the session (RFC 5077), so that no server keeps it; in TLS 1.3 it may be a name."""
    return version == "TLSv1.2" and session is not None and session.has_ticket


def _resumes(entrance: Entrance) -> bool:
    if entrance.session is None:
        return False
    visit = _visit(entrance, resume=True)
    if isinstance(visit, Failure):
        return False
    visit.link.close(politely=True)
    return visit.resumed


def _visit(entrance: Entrance, *, resume: bool) -> Visit | Failure:
    """Return a visit that is done and not closed yet."""
    now = time.monotonic()
    try:
        visit = Visit(entrance, now, now, time.monotonic, resume=resume)
    except OSError as error:
        return explain_connect(error)
    while not visit.over:
        left = now + entrance.site.timeout - time.monotonic()
        if left <= 0 or not _ready(visit, left):
            visit.expire()
        else:
            visit.advance()
    if visit.failure is not None:
        visit.link.close(politely=False)
        return visit.failure
    return visit


def _hear_more(visit: Visit) -> bool | Failure:
    """Say whether the server sends anything behind its handshake, without having been asked; tickets then are read.

    It may be an alert: of a client without a certificate a server of TLS 1.3 complains only then (RFC 8446, 4.4.2.4).
    """
    try:
        visit.link.send()
        if not _ready(visit, _TICKET_SECONDS):
            return False
        heard = visit.link.receive()
        visit.link.read()
    except ssl.SSLError as error:
        return visit.link.explain(error, Stage.HANDSHAKE)
    except OSError:
        return False
    return heard


def _ready(visit: Visit, seconds: float) -> bool:
    """Wait until the socket is ready for what comes next; false where it is not in that time."""
    readable, writable = ([visit.link.fd], []) if visit.link.greeted else ([], [visit.link.fd])
    return any(map(bool, select.select(readable, writable, [], seconds)))
