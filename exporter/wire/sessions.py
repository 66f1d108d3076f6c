"""Sessions that a connection leaves behind, each with the ticket that it was made from."""

import ssl
from contextlib import suppress
from dataclasses import dataclass

from exporter.model.observation import Ticket
from exporter.model.target import TlsVersion
from exporter.wire.context import ClientContext
from exporter.wire.handles import Handle, take
from exporter.wire.hello import read_client_hello
from exporter.wire.records import join_fragments
from exporter.wire.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Session:
    """A session that can be offered once more, on a connection of the same context.

    Attributes:
        ticket: the ticket that it was made from; None for a TLS 1.2 session id.
    """

    handle: Handle
    context: ClientContext
    ticket: Ticket | None


class Harvest:
    """Takes the sessions of one connection as late as it can, and keeps no reference to it.

    The library holds only the newest, and handing it out may copy it, peer certificate and all: so each but the last
    is taken when the next ticket is about to replace it, the last on demand.
    """

    def __init__(self, context: ClientContext, transcript: Transcript, keep: int) -> None:
        self._context = context
        self._transcript = transcript
        self._keep = keep
        self._taken = 0
        self._last_id = b""
        self._sessions: list[Session] = []

    def sessions(self, tls: ssl.SSLObject) -> tuple[Session, ...]:
        """Return at most `keep` sessions, in the order of their tickets."""
        if len(self._sessions) < self._keep:
            self._take(tls)
        return tuple(self._sessions)

    def before_ticket(self, tls: ssl.SSLObject) -> None:
        """Take the newest session if it is wanted beside the one that is about to replace it."""
        if len(self._sessions) + 1 < self._keep:
            self._transcript.settle()
            self._take(tls)

    def after_record(self, tls: ssl.SSLObject) -> None:
        """Where tickets cannot be seen: find out by the session whether the record held one, and what was in it."""
        if self._context.tapped or self._context.version is TlsVersion.TLS12 or self._transcript.full:
            return
        handle = take(tls)
        if handle is None or not handle.has_ticket or handle.id == self._last_id:
            return
        self._last_id = handle.id
        identity = self._identity(handle, tls.server_hostname or "")
        self._transcript.tickets.append(Ticket(identity, handle.ticket_lifetime_hint))
        if len(self._sessions) < self._keep:
            self._hold(handle)

    def _take(self, tls: ssl.SSLObject) -> None:
        """Take the newest session, unless it was taken before or is the one that was offered."""
        fresh = len(self._transcript.tickets) > self._taken
        if not fresh and not (self._context.version is TlsVersion.TLS12 and not self._taken and not tls.session_reused):
            return
        self._taken = max(1, len(self._transcript.tickets))
        handle = take(tls)
        if handle is not None and (handle.has_ticket or handle.id):
            self._hold(handle)

    def _hold(self, handle: Handle) -> None:
        tickets = self._transcript.tickets
        self._sessions.append(Session(handle, self._context, tickets[-1] if tickets else None))

    def _identity(self, handle: Handle, server_name: str) -> bytes:
        """Read a ticket that came encrypted from the ClientHello that would offer it, which is never sent."""
        outgoing = ssl.MemoryBIO()
        unsent = self._context.wrap(ssl.MemoryBIO(), outgoing, server_name, handle)
        with suppress(ssl.SSLWantReadError):
            unsent.do_handshake()
        return read_client_hello(join_fragments(outgoing.read())).identity
