"""Servers without sockets, a clock that is set by hand, and the prober's own rounds over them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import cast

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Ticket, TlsFacts
from exporter.model.target import Address, Endpoint, ProbeSettings, Resolved, Target, TlsVersion
from exporter.model.verdicts import RoundResult
from exporter.probe.dial import Dialled
from exporter.probe.errand import PLAIN, Errand
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from exporter.wire.context import ClientContext
from exporter.wire.handles import Handle
from exporter.wire.tls import Session
from tests.verdict.fleet import TLS12, TLS13, Server, certificate, shaken

LIFETIME = 3600
_EPOCH = 1_800_000_000.0


@dataclass(frozen=True)
class Token:
    """What stands where the library's session would be: what the simulated server needs to take it back."""

    number: int
    secret: str | None
    leaf: bytes
    born: float
    ticket_lifetime_hint: int


class World:
    """Simulated backends of one name, and a prober with its memory.

    Args:
        servers: several at one address take turns by chance, as behind a balancer.
        seed: everything that chance decides follows from it.
        loss: the share of connections that come to nothing.
    """

    def __init__(
        self,
        servers: dict[Address, list[Server]],
        *,
        seed: int = 0,
        loss: float = 0.0,
        versions: tuple[TlsVersion, ...] = (TLS13,),
        probe: ProbeSettings | None = None,
        interval: float = 30.0,
    ) -> None:
        self.servers = servers
        self.loss = loss
        self.now = 0.0
        self.connections = 0
        self.target = Target(
            "sim",
            Endpoint("sim.test", 443),
            "sim.test",
            versions=versions,
            probe=probe or ProbeSettings(),
            interval=interval,
        )
        self._random = Random(seed)  # noqa: S311 - a simulation must repeat itself
        self._serial = 0
        means = Means(self._dial, lambda: self.now, lambda: _EPOCH + self.now, self._random.random)
        self.prober = Prober(means)
        self.memory = Memory()

    async def round(self) -> RoundResult:
        """Make one round over those who are there, and let the target's interval pass."""
        found = Resolved(tuple(sorted(self.servers)))
        result = await self.prober.run_round(self.target, found, self.memory)
        self.now += self.target.interval
        return result

    async def rounds(self, count: int) -> list[RoundResult]:
        """Make some rounds."""
        return [await self.round() for _ in range(count)]

    async def _dial(
        self,
        target: Target,
        backend: Address,
        version: TlsVersion,
        session: Session | None = None,
        errand: Errand = PLAIN,
    ) -> Dialled:
        self.connections += 1
        server = self._random.choice(self.servers[backend])
        if not server.up:
            return Dialled(Failure(Stage.CONNECT, Reason.CONNECTION_REFUSED))
        if self._random.random() < self.loss:
            stage = self._random.choice([Stage.CONNECT, Stage.HANDSHAKE])
            return Dialled(Failure(stage, Reason.TIMEOUT))
        if version not in server.versions:
            return Dialled(Failure(Stage.HANDSHAKE, Reason.ALERT_PROTOCOL_VERSION))
        return self._shake(server, version, session)

    def _shake(self, server: Server, version: TlsVersion, session: Session | None) -> Dialled:
        resumed = session is not None and self._takes(server, session)
        if session is not None and not resumed and server.kills is not None:
            return Dialled(Failure(Stage.HANDSHAKE, server.kills))
        tickets = tuple(self._issue(server, version, resumed=resumed))
        facts = TlsFacts(
            version=version,
            cipher=server.cipher,
            resumed=resumed,
            offered=session is not None,
            offer_kind="" if session is None else "ticket" if session.ticket else "session_id",
            session_id=version is TLS12 and any(one.ticket is None for one in tickets),
            tickets=tuple(one.ticket for one in tickets if one.ticket is not None),
            certificate=None if resumed else certificate(server.leaf),
        )
        return Dialled(shaken(facts), tickets)

    def _takes(self, server: Server, session: Session) -> bool:
        token = cast("Token", session.handle)
        if self.now - token.born >= token.ticket_lifetime_hint:
            return False
        if token.secret is not None:
            known = any(key.secret == token.secret for key in server.keys)
            return known and (not server.bound or token.leaf == server.leaf)
        if server.store is None or token.number not in server.store:
            return False
        if server.single_use:
            server.store.discard(token.number)
        return True

    def _issue(self, server: Server, version: TlsVersion, *, resumed: bool) -> Iterable[Session]:
        if version is TLS12 and resumed:
            return
        for _ in range(1 if resumed or version is TLS12 else server.tickets):
            if server.keys:
                key = server.keys[0]
                yield self._session(server, key.head + self._random.randbytes(key.size - len(key.head)), key.secret)
            elif server.store is not None or server.ids:
                yield self._session(server, self._random.randbytes(32) if version is TLS13 else None, None)

    def _session(self, server: Server, identity: bytes | None, secret: str | None) -> Session:
        self._serial += 1
        if secret is None and server.store is not None:
            server.store.add(self._serial)
        token = Token(self._serial, secret, server.leaf, self.now, LIFETIME)
        ticket = None if identity is None else Ticket(identity, LIFETIME)
        return Session(cast("Handle", token), cast("ClientContext", None), ticket)


def alike(count: int, server: Server) -> dict[Address, list[Server]]:
    """Return so many servers with the same settings at 127.0.1.1, 127.0.1.2 and so on."""
    return {
        Address(f"127.0.1.{number}", 443): [replace(server, keys=list(server.keys))] for number in range(1, count + 1)
    }
