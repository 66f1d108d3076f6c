"""A TLS client that is fed bytes and hands back bytes, with notes of all that a handshake shows."""

import ssl
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from exporter.model.connections import RecordSizes
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import TlsFacts
from exporter.model.target import TlsVersion
from exporter.wire.certificate import read_leaf
from exporter.wire.context import ClientContext
from exporter.wire.errors import library_failure, other_version
from exporter.wire.records import HEADER_BYTES, ClearMessages, plausible, record_end
from exporter.wire.sessions import Harvest, Session
from exporter.wire.tap import TappedObject
from exporter.wire.transcript import WIRE_VERSIONS, Transcript

__all__ = ["Session", "Step", "TlsClient"]

_LONGEST_PLAINTEXT = 1 << 14
_EMPTY_FRAME = 9  # bytes of an HTTP/2 frame without a payload (RFC 9113 section 4.1)
_MOST_BYTES_WITHOUT_DATA = 8 << 20
"""Of handshake, tickets and whatever else a peer may send: 64 tickets of the largest size fit in."""
_FLOODED = Failure(Stage.HANDSHAKE, Reason.MESSAGE_TOO_LARGE, "8 MiB without application data")


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one call.

    Attributes:
        send: must go out now, as one flight; beside a failure it is the alert that tells the server.
        done: the handshake is complete.
        data: decrypted application data.
        pending: bytes that came behind the handshake's end and are not processed yet; 0 in every later step.
        closed: the peer sent close_notify or closed the connection after the handshake.
        failure: why there will be no further step; its stage is `handshake` or `verify`.
    """

    send: bytes = b""
    done: bool = False
    data: bytes = b""
    pending: int = 0
    closed: bool = False
    failure: Failure | None = None


_NOTHING = Step()


class TlsClient:
    """One connection's TLS, from the ClientHello to close_notify; it never raises for what the peer sends.

    Args:
        context: whose version is spoken.
        server_name: sent as SNI, and checked where the context verifies; an IP literal is only checked.
        session: offered for resumption; it must come from the same context.
        keep: how many sessions are wanted at most. The newest costs nothing until it is asked for; each one before it
            is taken while its successor is read.

    Raises:
        ValueError: the name is empty or cannot be encoded, or the session is another context's.

    Attributes:
        started: whether any byte of the peer's came.
    """

    def __init__(
        self, context: ClientContext, server_name: str, session: Session | None = None, *, keep: int = 1
    ) -> None:
        if session is not None and session.context is not context:
            raise ValueError("the session belongs to another context")
        tls13 = context.version is TlsVersion.TLS13
        self.started = False
        self._context = context
        self._server_name = server_name
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap(self._incoming, self._outgoing, server_name, session.handle if session else None)
        self._transcript = Transcript(tls13=tls13, offering=session is not None)
        self._harvest = Harvest(context, self._transcript, keep)
        if isinstance(self._tls, TappedObject):
            self._tls.heard = self._transcript.heard
            self._tls.before_ticket = self._harvest.before_ticket
        self._clear = None if context.tapped else ClearMessages(tls13=tls13)
        self._start = b""
        self._held = bytearray()
        self._sent = 0
        self._received = 0
        self._round_trips = 0
        self._without_data = 0
        self._first_record = self._largest_record = self._records = 0
        self._outcome: _Outcome | None = None
        self._facts: TlsFacts | None = None
        self._last: Step | None = None

    def start(self) -> Step:
        """Return the ClientHello."""
        step = self._shake()
        self._transcript.flight = step.send
        return step

    def receive(self, data: bytes) -> Step:
        """Take bytes from the peer.

        The call in which the handshake completes reads no further: receive(b"") goes on with what is pending.
        """
        if self._last is not None:
            return self._last
        self.started = self.started or bool(data)
        self._without_data += len(data)
        if self._without_data > _MOST_BYTES_WITHOUT_DATA:
            return self._end(self._failed(_FLOODED))
        if self._outcome is not None:
            self._held += data
            return self._read()
        self._received += len(data)
        if len(self._start) < HEADER_BYTES:
            self._start += data[:HEADER_BYTES]
        self._incoming.write(data)
        if self._clear is not None:
            self._transcript.heard.extend(self._clear.feed(data))
            self._transcript.settle()
        return self._shake()

    def receive_eof(self) -> Step:
        """Take the end of the peer's bytes: a failure before the handshake is done, an ordinary end after it."""
        if self._last is not None:
            return self._last
        if self._outcome is not None:
            return self._end(Step(closed=True))
        reason = Reason.CLOSED if plausible(self._start) else Reason.NOT_TLS
        return self._end(self._failed(Failure(Stage.HANDSHAKE, reason)))

    def send(self, data: bytes) -> bytes:
        """Return application data as records; b"" once the connection has failed."""
        try:
            view = memoryview(data)
            while view:
                view = view[self._tls.write(view) :]
        except ssl.SSLError:
            return b""
        return self._outgoing.read()

    def close(self) -> bytes:
        """Return close_notify, or b"" before the handshake is done or after a failure."""
        with suppress(ssl.SSLError):  # the peer's own close_notify is not waited for
            self._tls.unwrap()
        return self._outgoing.read()

    def take_records(self) -> RecordSizes | None:
        """Return the sizes of the records of application data that came since the last call; None if none came."""
        if not self._records:
            return None
        sizes = RecordSizes(self._first_record, self._largest_record, self._records)
        self._first_record = self._largest_record = self._records = 0
        return sizes

    @property
    def facts(self) -> TlsFacts:
        """What was seen so far; tickets are added as they come. RuntimeError before the handshake is done."""
        if self._outcome is None:
            raise RuntimeError("the handshake is not done")
        self._transcript.settle()
        if self._facts is None:
            self._facts = self._handshake_facts(self._outcome)
        if len(self._facts.tickets) != len(self._transcript.tickets):
            self._facts = replace(self._facts, tickets=tuple(self._transcript.tickets))
        return self._facts

    @property
    def ticket_count(self) -> int:
        """How many tickets came so far."""
        self._transcript.settle()
        return len(self._transcript.tickets)

    @property
    def sessions(self) -> tuple[Session, ...]:
        """At most `keep` sessions, in the order of their tickets; () after a resumption that brought no new ticket."""
        self._transcript.settle()
        return self._harvest.sessions(self._tls) if self._outcome is not None else ()

    def _shake(self) -> Step:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            send = self._outgoing.read()
            if send:
                self._sent += len(send)
                self._round_trips += 1
            return Step(send=send)
        except OSError as error:
            return self._fail(error)
        return self._finish()

    def _finish(self) -> Step:
        send = self._outgoing.read()
        pending = self._incoming.read()
        self._held += pending
        self._sent += len(send)
        self._received -= len(pending)
        self._outcome = _ask_outcome(self._tls)
        return Step(send=send, done=True, pending=len(pending))

    def _handshake_facts(self, outcome: "_Outcome") -> TlsFacts:
        seen = self._transcript
        leaf = read_leaf(outcome.leaf, seen.chain) if outcome.leaf else None
        return TlsFacts(
            version=self._context.version,
            cipher=outcome.cipher,
            group=seen.group,
            alpn=outcome.alpn,
            resumed=outcome.resumed,
            offered=seen.offer_kind != "",
            offer_kind=seen.offer_kind,
            session_id=seen.issued_session_id(resumed=outcome.resumed),
            tickets=tuple(seen.tickets),
            hello_retry=seen.retried,
            hello_bytes=seen.hello.size,
            sent_bytes=self._sent,
            received_bytes=self._received,
            certificate_bytes=seen.certificate_bytes,
            certificate=leaf.facts if leaf else None,
            name_matches=leaf.holds(self._server_name) if leaf else None,
            round_trips=self._round_trips,
            extended_master_secret=seen.extended_master_secret,
        )

    def _read(self) -> Step:
        data: list[bytes] = []
        while self._feed():
            try:
                plain = self._tls.read(_LONGEST_PLAINTEXT)
            except ssl.SSLWantReadError:
                self._transcript.settle()
                self._harvest.after_record(self._tls)
                continue
            except ssl.SSLZeroReturnError:
                plain = b""
            except OSError as error:
                return self._fail(error, b"".join(data))
            if not plain:
                return self._end(Step(send=self._outgoing.read(), data=b"".join(data), closed=True))
            data.append(plain)
            self._note_record(len(plain))
            self._without_data = 0
        send = self._outgoing.read()
        return Step(send=send, data=b"".join(data)) if data or send else _NOTHING

    def _feed(self) -> bool:
        """Give the library bytes that are held; tell whether it has any to read.

        Where tickets cannot be heard it gets a record at a time, so that each can be told from the next.
        """
        if not self._held:
            return self._incoming.pending > 0
        end = len(self._held) if self._context.tapped else record_end(self._held, 0)
        self._incoming.write(self._held[:end])
        del self._held[:end]
        return end > 0

    def _note_record(self, size: int) -> None:
        if size <= _EMPTY_FRAME and self._outcome is not None and self._outcome.alpn == "h2":
            return  # an acknowledgement, which may come in one piece with the answer
        if not self._records:
            self._first_record = size
        self._largest_record = max(self._largest_record, size)
        self._records += 1

    def _fail(self, error: OSError, data: bytes = b"") -> Step:
        self._transcript.settle()
        answered = self._transcript.version
        if self._outcome is None and answered not in (0, WIRE_VERSIONS[self._context.version]):
            return self._end(self._failed(other_version(answered), data))
        failure = library_failure(error, start=self._start, alert=self._transcript.alert)
        return self._end(self._failed(failure, data))

    def _failed(self, failure: Failure, data: bytes = b"") -> Step:
        return Step(send=self._outgoing.read(), data=data, failure=failure)

    def _end(self, step: Step) -> Step:
        """Return the last step; calls after it get the same again, with nothing more to send or to read."""
        self._last = replace(step, send=b"", data=b"")
        self._held.clear()
        return step


class _Outcome(NamedTuple):
    """What the library says of a finished handshake."""

    resumed: bool
    cipher: str
    alpn: str
    leaf: bytes | None


def _ask_outcome(tls: ssl.SSLObject) -> _Outcome:
    """Ask the library at once, since after a later failure it would not answer any more."""
    resumed = bool(tls.session_reused)
    cipher = tls.cipher()
    leaf = None if resumed else tls.getpeercert(binary_form=True)
    return _Outcome(resumed, cipher[0] if cipher else "", tls.selected_alpn_protocol() or "", leaf)
