"""A fleet of simulated TLS servers, and a prober that plays rounds with them; no sockets and no clock."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import (
    Certificate,
    Handshake,
    Mode,
    Observation,
    Offer,
    Origin,
    Ticket,
    Timing,
    TimingSource,
    TlsFacts,
)
from exporter.model.target import Address, Endpoint, Target, TlsVersion
from exporter.model.verdicts import VersionVerdict
from exporter.verdict.hints import speaks, standing_refusals
from exporter.verdict.history import EMPTY, History
from exporter.verdict.judge import Judgement, judge

TLS12, TLS13 = TlsVersion.TLS12, TlsVersion.TLS13
NOW = 1_800_000_000.0


def address(number: int) -> Address:
    """Give the loopback address with this number."""
    return Address(f"127.0.0.{number}", 443)


@dataclass(frozen=True)
class Key:
    """A ticket key; what stands at the head of its tickets need not be its own."""

    secret: str
    head: bytes = b""
    size: int = 176


def named(letter: str) -> Key:
    """Make a key whose tickets bear its name in the RFC 5077 style."""
    return Key(letter, letter.encode() * 16)


@dataclass(frozen=True)
class Session:
    """What a client keeps, and what the simulation knows of it: its key, or the store that holds it."""

    ticket: Ticket | None
    number: int
    version: TlsVersion
    secret: str | None
    leaf: bytes


@dataclass
class Server:
    """One backend.

    Attributes:
        keys: the first encrypts, all decrypt.
        store: numbers of the sessions that it holds as state; may be another server's too.
        ids: it hands out session ids (as tickets of 32 bytes in TLS 1.3) even though it keeps nothing.
        tickets: how many come with a full handshake of TLS 1.3.
        bound: sessions are bound to the certificate.
        single_use: a stored session is gone once it was resumed.
        behind: gives the keys of whichever server a balancer picks for the next connection.
        kills: how it answers an offer that it does not like, instead of going on in full.
    """

    keys: list[Key] = field(default_factory=list)
    store: set[int] | None = None
    ids: bool = False
    tickets: int = 2
    versions: tuple[TlsVersion, ...] = (TLS12, TLS13)
    up: bool = True
    leaf: bytes = b"leaf"
    cipher: str = "TLS_AES_256_GCM_SHA384"
    bound: bool = False
    single_use: bool = False
    kills: Reason | None = None
    behind: Callable[[], list[Key]] | None = None

    def takes(self, session: Session) -> bool:
        """Resume a session, or not."""
        if session.secret is None:
            if self.store is None or session.number not in self.store:
                return False
            if self.single_use:
                self.store.discard(session.number)
            return True
        known = any(key.secret == session.secret for key in self.keys)
        return known and (not self.bound or session.leaf == self.leaf)


class Prober:
    """Plays the rounds that the daemon would play, and has them judged."""

    def __init__(self, fleet: dict[Address, Server], seed: int = 0, loss: Callable[[Random], bool] = lambda _: False):
        self.fleet = fleet
        self.target = Target("sim", Endpoint("sim.test", 443), "sim.test")
        self.history: History = EMPTY
        self.observations: tuple[Observation, ...] = ()
        self.now = NOW
        self._random = Random(seed)  # noqa: S311 - a simulation must repeat itself
        self._loss = loss
        self._serial = self._before = 0
        self._round = 0
        self._kept: dict[tuple[Address, TlsVersion], Session] = {}

    def round(self, order: Sequence[Address] | None = None) -> Judgement:
        """Play one round and judge it."""
        backends = tuple(order or self.fleet)
        self._before = self._serial
        self.observations = tuple(
            seen for version in self.target.versions for seen in self._play(sorted(backends), version)
        )
        self.now += 30.0
        self._round += 1
        judgement = judge(self.target, backends, self.observations, self.history, now=self.now)
        self.history = judgement.history
        return judgement

    def verdict(self, version: TlsVersion = TLS13) -> VersionVerdict:
        """Play one round and give one version's verdict."""
        return self.round().verdicts[version]

    def _play(self, backends: Sequence[Address], version: TlsVersion) -> Iterator[Observation]:
        fresh: dict[Address, Session] = {}
        asked = [
            backend
            for backend in backends
            if self._round % 10 == 0 or speaks(self.history, backend, version) is not False
        ]
        for backend in asked:
            yield from self._control(backend, version, fresh)
        ring = [backend for backend in asked if backend in fresh]
        crossed: set[tuple[Address, Address]] = set()
        for issuer, acceptor in zip(ring, ring[1:] + ring[:1], strict=True):
            if issuer != acceptor:
                crossed.add((issuer, acceptor))
                yield from self._cross(issuer, acceptor, version, fresh)
        for issuer, acceptor in standing_refusals(self.history, version, ring):
            if (issuer, acceptor) not in crossed:
                yield from self._offer(issuer, acceptor, version, fresh[issuer])

    def _control(self, backend: Address, version: TlsVersion, fresh: dict[Address, Session]) -> Iterator[Observation]:
        kept = self._kept.get((backend, version)) if self._round % 2 else None
        done = False
        if kept is not None:
            for seen in self._offer(backend, backend, version, kept):
                done = done or (isinstance(seen.outcome, Handshake) and seen.outcome.mode is Mode.RESUMED)
                yield seen
        full, sessions = self._dial(backend, version)
        yield full
        if not isinstance(full.outcome, Handshake) or not sessions:
            return
        fresh[backend] = sessions[0]
        self._kept[backend, version] = sessions[-1]
        if not done:
            yield from self._offer(backend, backend, version, sessions[-1])

    def _cross(
        self, issuer: Address, acceptor: Address, version: TlsVersion, fresh: dict[Address, Session]
    ) -> Iterator[Observation]:
        refused = False
        for seen in self._offer(issuer, acceptor, version, fresh[issuer]):
            refused = refused or (
                seen.offer is not None and isinstance(seen.outcome, Handshake) and not seen.outcome.tls.resumed
            )
            yield seen
        if refused:
            yield from self._offer(acceptor, issuer, version, fresh[acceptor])
            yield from self._offer(issuer, acceptor, version, fresh[issuer])

    def _offer(
        self, issuer: Address, acceptor: Address, version: TlsVersion, session: Session
    ) -> Iterator[Observation]:
        origin = Origin.SELF if issuer == acceptor else Origin.PEER
        offer = Offer(issuer, origin, 0.1, session.ticket, fresh=session.number > self._before)
        seen, _ = self._dial(acceptor, version, offer, session)
        yield seen
        if not isinstance(seen.outcome, Failure):
            return
        again, _ = self._dial(acceptor, version, offer, session)
        if not isinstance(again.outcome, Failure):
            yield again
            return
        without, _ = self._dial(acceptor, version)
        worked = isinstance(without.outcome, Handshake)
        yield Observation(acceptor, version, offer, again.outcome, confirmed=worked)
        yield without

    def _dial(
        self, backend: Address, version: TlsVersion, offer: Offer | None = None, session: Session | None = None
    ) -> tuple[Observation, list[Session]]:
        server = self.fleet[backend]
        if not server.up:
            return Observation(backend, version, offer, Failure(Stage.CONNECT, Reason.CONNECTION_REFUSED)), []
        if self._loss(self._random):
            stage = self._random.choice([Stage.CONNECT, Stage.HANDSHAKE])
            return Observation(backend, version, offer, Failure(stage, Reason.TIMEOUT)), []
        if version not in server.versions:
            alert = Failure(Stage.HANDSHAKE, Reason.ALERT_PROTOCOL_VERSION)
            return Observation(backend, version, offer, alert), []
        if server.behind is not None:
            server.keys = server.behind()
        resumed = session is not None and server.takes(session)
        if session is not None and not resumed and server.kills is not None:
            return Observation(backend, version, offer, Failure(Stage.HANDSHAKE, server.kills)), []
        sessions = self._issue(server, version, resumed=resumed)
        facts = TlsFacts(
            version=version,
            cipher=server.cipher,
            resumed=resumed,
            offered=session is not None,
            offer_kind="" if session is None else "ticket" if session.ticket else "session_id",
            session_id=any(one.ticket is None for one in sessions),
            tickets=tuple(one.ticket for one in sessions if one.ticket is not None),
            certificate=None if resumed else certificate(server.leaf),
        )
        return Observation(backend, version, offer, shaken(facts)), sessions

    def _issue(self, server: Server, version: TlsVersion, *, resumed: bool) -> list[Session]:
        if version is TLS12 and resumed:
            return []
        count = 1 if resumed or version is TLS12 else server.tickets
        if server.keys:
            return [self._seal(server, server.keys[0], version) for _ in range(count)]
        if server.store is None and not server.ids:
            return []
        return [self._file(server, version) for _ in range(count)]

    def _seal(self, server: Server, key: Key, version: TlsVersion) -> Session:
        self._serial += 1
        body = key.head + self._random.randbytes(key.size - len(key.head))
        return Session(Ticket(body, 300), self._serial, version, key.secret, server.leaf)

    def _file(self, server: Server, version: TlsVersion) -> Session:
        self._serial += 1
        if server.store is not None:
            server.store.add(self._serial)
        ticket = Ticket(self._random.randbytes(32), 300) if version is TLS13 else None
        return Session(ticket, self._serial, version, None, server.leaf)


def certificate(leaf: bytes) -> Certificate:
    """Make the facts of a certificate with this fingerprint."""
    return Certificate(leaf, "CN=sim", "CN=ca", "ecdsa-p256", "ecdsa-sha256", 0.0, 1.0, ("sim.test",), 600, 1)


def shaken(facts: TlsFacts, duration: float = 0.001) -> Handshake:
    """Make a completed handshake of its TLS facts."""
    return Handshake(facts, Timing(source=TimingSource.KERNEL, duration=duration, wall=duration))
