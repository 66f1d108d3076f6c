"""Two real TLS peers on a piece of memory: our client, and a server of the standard library."""

import ssl
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from exporter.model.observation import TlsFacts
from exporter.model.target import TlsVersion
from exporter.wire.context import ClientContext
from exporter.wire.tls import Session, Step, TlsClient
from tests.servers.certificates import SERVER_NAME, Leaf

LIBRARY_VERSIONS = {TlsVersion.TLS12: ssl.TLSVersion.TLSv1_2, TlsVersion.TLS13: ssl.TLSVersion.TLSv1_3}

Cut = Callable[[bytes], Iterable[bytes]]
Bend = Callable[[int, bytes], bytes]


def whole(flight: bytes) -> Iterable[bytes]:
    """Deliver a flight in one piece."""
    return (flight,)


def straight(_number: int, flight: bytes) -> bytes:
    """Deliver a flight as it is."""
    return flight


def server_context(leaf: Leaf, version: TlsVersion | None = None) -> ssl.SSLContext:
    """Give a stock server that shows a leaf, for one version or both."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if version is not None:
        context.minimum_version = context.maximum_version = LIBRARY_VERSIONS[version]
    context.load_cert_chain(leaf.certificate_file, leaf.key_file)
    return context


class Server:
    """One connection's server side, which answers the first application data with `answer`.

    Attributes:
        error: what the library made of the client's bytes.
        received: application data.
        sent: flights so far.
    """

    def __init__(self, context: ssl.SSLContext, answer: bytes = b"") -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._answer = answer
        self._done = False
        self.error: ssl.SSLError | None = None
        self.received = b""
        self.sent: list[bytes] = []

    def receive(self, data: bytes) -> bytes:
        """Take the client's bytes and return the next flight."""
        self._incoming.write(data)
        try:
            self._advance()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self.error = error
        flight = self._outgoing.read()
        if flight:
            self.sent.append(flight)
        return flight

    def close(self) -> bytes:
        """Return close_notify."""
        with suppress(ssl.SSLError):
            self.tls.unwrap()
        return self._outgoing.read()

    def _advance(self) -> None:
        if not self._done:
            self.tls.do_handshake()
            self._done = True
        while data := self.tls.read():
            self.received += data
            if self._answer:
                self.tls.write(self._answer)
                self._answer = b""


@dataclass(frozen=True, slots=True)
class Meeting:
    """What came of two peers' talk, up to the tickets.

    Attributes:
        step: the client's last one that completed the handshake or failed.
        after: what came of the bytes behind the handshake.
    """

    client: TlsClient
    server: Server
    step: Step
    after: list[Step] = field(default_factory=list)

    @property
    def facts(self) -> TlsFacts:
        """The client's."""
        assert self.step.done, self.step
        return self.client.facts

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The client's."""
        return self.client.sessions


def meet(
    context: ClientContext,
    server: Server,
    session: Session | None = None,
    *,
    name: str = SERVER_NAME,
    keep: int = 1,
    cut: Cut = whole,
    bend: Bend = straight,
) -> Meeting:
    """Let a new client shake hands with a server and read its tickets.

    Args:
        cut: how the network slices the server's flights.
        bend: what the network makes of the server's flights, by their number.
    """
    client = TlsClient(context, name, session, keep=keep)
    step = client.start()
    shaken: Step | None = None
    after: list[Step] = []
    number = 0
    while flight := server.receive(step.send) if step.send else b"":
        flight = bend(number, flight)
        number += 1
        send = b""
        for piece in cut(flight):
            step = client.receive(piece)
            send += step.send
            if shaken is None and (step.done or step.failure):
                shaken = step
                step = client.receive(b"") if step.done else step
                send += step.send
            if shaken is not None:
                after.append(step)
        step = Step(send=send)
    return Meeting(client, server, shaken or client.receive_eof(), after)
