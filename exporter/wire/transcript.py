"""What was read along one connection, whichever way its messages were come by."""

from exporter.model.observation import Ticket
from exporter.model.target import TlsVersion
from exporter.wire.hello import ClientHello, read_client_hello, read_server_hello
from exporter.wire.messages import (
    CERTIFICATE,
    COMPRESSED_CERTIFICATE,
    NEW_SESSION_TICKET,
    SERVER_HELLO,
    SERVER_KEY_EXCHANGE,
    Chain,
    group_name,
    read_chain,
    read_curve,
    read_ticket,
)
from exporter.wire.records import ALERT, join_fragments

MOST_TICKETS = 64

WIRE_VERSIONS = {TlsVersion.TLS12: 0x0303, TlsVersion.TLS13: 0x0304}
"""As a ServerHello has them."""


class Transcript:
    """Notes of one connection; every message may be nonsense, and nonsense leaves no note.

    Args:
        tls13: whether TLS 1.3 was asked for, TLS 1.2 otherwise.
        offering: whether our hello was given a session to offer.

    Attributes:
        flight: our first flight; it is read when first asked for, since that may well be never.
        heard: messages of the peer's not yet noted: content types, and messages with their own headers.
        version: as the ServerHello has it on the wire, 0 before.
        session_id: as the ServerHello has it.
        alert: number of the last alert from the peer, close_notify apart.
        certificate_bytes: size of the Certificate message with its header.
        chain: the certificates that came.
        extended_master_secret: whether the server agreed to it; None in TLS 1.3, and before its hello.
    """

    def __init__(self, *, tls13: bool, offering: bool) -> None:
        self._tls13 = tls13
        self._offering = offering
        self._hello: ClientHello | None = None
        self.flight = b""
        self.heard: list[tuple[int, bytes]] = []
        self.version = 0
        self.session_id = b""
        self.group = ""
        self.retried = False
        self.tickets: list[Ticket] = []
        self.certificate_bytes = 0
        self.chain = Chain()
        self.extended_master_secret: bool | None = None
        self.alert: int | None = None

    @property
    def full(self) -> bool:
        """Whether no more tickets are noted."""
        return len(self.tickets) >= MOST_TICKETS

    @property
    def hello(self) -> ClientHello:
        """Our first ClientHello; without a session there is nothing in it but its size."""
        if self._hello is None:
            message = join_fragments(self.flight)
            self._hello = read_client_hello(message) if self._offering else ClientHello(size=len(message))
        return self._hello

    @property
    def offer_kind(self) -> str:
        """What our hello offered: "ticket", "session_id" or ""."""
        if self._tls13:
            return "ticket" if self.hello.identity else ""
        if self.hello.ticket:
            return "ticket"  # the session id beside it is random, to see by it whether the ticket was accepted
        return "session_id" if self.hello.session_id else ""

    def issued_session_id(self, *, resumed: bool) -> bool:
        """Tell whether the server gave an id to resume from; one echoed along with a ticket is our own random one."""
        if self._tls13 or (resumed and self.hello.ticket):
            return False
        return bool(self.session_id)

    def settle(self) -> None:
        """Note what was heard."""
        for content_type, message in self.heard:
            if content_type == ALERT:
                self._note_alert(message)
            elif message:
                self._note_handshake(message[0], message)
        self.heard.clear()

    def _note_alert(self, message: bytes) -> None:
        if len(message) == 2 and message[1] != 0:
            self.alert = message[1]

    def _note_handshake(self, kind: int, message: bytes) -> None:
        if kind == SERVER_HELLO:
            self._note_server_hello(message)
        elif kind == NEW_SESSION_TICKET:
            ticket = None if self.full else read_ticket(message, tls13=self._tls13)
            if ticket is not None:
                self.tickets.append(ticket)
        elif kind == CERTIFICATE:
            self.certificate_bytes = len(message)
            self.chain = read_chain(message, tls13=self._tls13) or Chain()
        elif kind == COMPRESSED_CERTIFICATE:
            self.certificate_bytes = len(message)
        elif kind == SERVER_KEY_EXCHANGE and not self._tls13:
            self.group = read_curve(message)

    def _note_server_hello(self, message: bytes) -> None:
        hello = read_server_hello(message)
        if hello is None:
            return
        self.version = hello.version
        self.session_id = hello.session_id
        self.retried |= hello.retry
        self.group = group_name(hello.group) or self.group
        if not self._tls13:
            self.extended_master_secret = hello.extended_master_secret
