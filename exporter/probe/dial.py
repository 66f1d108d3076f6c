"""One connection to one backend: connect, handshake, take the tickets, ask over HTTP, part politely."""

import asyncio
import ssl
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Protocol

from exporter.model.connections import HttpAnswer
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake
from exporter.model.target import Address, Target, TlsVersion
from exporter.probe import errors
from exporter.probe.connection import Connection
from exporter.probe.gates import Gates
from exporter.probe.stamps import RunDelay, hold_anchor
from exporter.probe.starvation import is_ours
from exporter.probe.stopwatch import Stopwatch
from exporter.probe.talk import exchange, part, shake, take_tickets
from exporter.wire.context import ClientContext, Contexts
from exporter.wire.tls import Session, TlsClient

_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Dialled:
    """What a dial brought.

    Attributes:
        sessions: those that can be offered later, in the order of their tickets.
        starved: failures that were put down to our own starvation and tried again.
    """

    outcome: Handshake | Failure
    sessions: tuple[Session, ...] = ()
    starved: tuple[Failure, ...] = ()

    @property
    def failure(self) -> Failure | None:
        """Why there was no handshake, if there was none."""
        return self.outcome if isinstance(self.outcome, Failure) else None


class Dial(Protocol):
    """Dialler.dial, which is all that a round needs of a dialler."""

    async def __call__(
        self,
        target: Target,
        backend: Address,
        version: TlsVersion,
        session: Session | None = None,
        *,
        http: bool = False,
        keep: int = 0,
    ) -> Dialled:
        """Connect to a backend and shake hands."""
        ...


class Dialler:
    """Dials for all targets of a process: shares contexts, gates and what was learned of servers' habits."""

    def __init__(self) -> None:
        self._anchor = hold_anchor()
        self._run_delay = RunDelay()
        self._contexts = Contexts()
        self._gates = Gates()
        self._late_tickets: OrderedDict[tuple[Address, TlsVersion], bool] = OrderedDict()

    def close(self) -> None:
        """Give back what is held for the process's life."""
        self._run_delay.close()
        if self._anchor is not None:
            self._anchor.close()

    async def dial(
        self,
        target: Target,
        backend: Address,
        version: TlsVersion,
        session: Session | None = None,
        *,
        http: bool = False,
        keep: int = 0,
    ) -> Dialled:
        """Connect to a backend and shake hands.

        Where the certificate does not verify, a second connection without verification brings the facts all the same.

        Args:
            session: what to offer; its own context is used.
            http: whether to send the target's request once the tickets are there.
            keep: how many sessions are wanted at the most.
        """
        try:
            context = session.context if session else self._contexts.get(target.tls, version, verify=target.tls.verify)
            dialled = await self._dial_steadily(_Call(target, backend, context, session, http=http, keep=keep))
            outcome = dialled.outcome
            if not isinstance(outcome, Failure) or outcome.stage is not Stage.VERIFY:
                return dialled
            lenient = self._contexts.get(target.tls, version, verify=False)
            again = await self._dial_steadily(_Call(target, backend, lenient, None, http=http, keep=keep))
        except (OSError, ssl.SSLError) as error:
            return Dialled(Failure(Stage.PROBE, Reason.SETTINGS, str(error)))
        starved = dialled.starved + again.starved
        if isinstance(again.outcome, Failure):
            return Dialled(outcome, starved=starved)
        return replace(again, outcome=replace(again.outcome, verify_failure=outcome), starved=starved)

    async def _dial_steadily(self, call: "_Call") -> Dialled:
        """Dial, and once more where a failure may well be our own: we had too little processor time."""
        await self._gates.enter(call.backend)
        try:
            dialled, lateness = await self._dial_once(call)
            if dialled.failure is None or not is_ours(dialled.failure, lateness, call.target.timeout):
                return dialled
            again, lateness = await self._dial_once(call)
        finally:
            self._gates.leave(call.backend)
        first = Failure(Stage.PROBE, Reason.STARVED, str(dialled.failure))
        if again.failure is not None and is_ours(again.failure, lateness, call.target.timeout):
            return Dialled(Failure(Stage.PROBE, Reason.STARVED, str(again.failure)), starved=(first,))
        return replace(again, starved=(first,))

    async def _dial_once(self, call: "_Call") -> tuple[Dialled, float]:
        """Return what one connection brought, and by how many seconds we were late at it."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + call.target.timeout
        try:
            connection = await Connection.open(call.backend, deadline)
        except TimeoutError:
            return Dialled(Failure(Stage.CONNECT, Reason.TIMEOUT)), loop.time() - deadline
        except OSError as error:
            return Dialled(errors.explain_connect(error)), 0.0
        try:
            return await self._talk(call, connection)
        finally:
            connection.close()

    async def _talk(self, call: "_Call", connection: Connection) -> tuple[Dialled, float]:
        engine = TlsClient(call.context, call.target.server_name, call.session, keep=call.keep)
        watch = Stopwatch(connection, self._run_delay)
        shaken = await shake(engine, connection, watch)
        if isinstance(shaken, Failure):
            return Dialled(shaken), watch.lateness()
        answer: HttpAnswer | Failure | None = None
        if call.http:
            answer = await self._ask(call, engine, connection)
        failure = await part(engine, connection, linger=not call.http)
        failure = failure or _handshake_failure(answer)
        if failure:
            return Dialled(failure), watch.lateness()
        return Dialled(Handshake(engine.facts, shaken, http=answer), engine.sessions), watch.lateness()

    def _expects_ticket(self, habit: tuple[Address, TlsVersion]) -> bool:
        """Say whether a ticket can be waited for before the request: in TLS 1.2 it came amid the handshake."""
        return habit[1] is TlsVersion.TLS13 and not self._late_tickets.get(habit, False)

    async def _ask(self, call: "_Call", engine: TlsClient, connection: Connection) -> HttpAnswer | Failure:
        """Take the tickets, then send the request, so that its wait ends with the answer and not with a ticket."""
        habit = (call.backend, call.context.version)
        failure = await take_tickets(engine, connection, patient=self._expects_ticket(habit))
        if failure:
            return failure
        early = engine.ticket_count > 0
        answer = await exchange(call.target, engine, connection)
        self._late_tickets[habit] = not early
        self._late_tickets.move_to_end(habit)
        if len(self._late_tickets) > _REMEMBERED:
            self._late_tickets.popitem(last=False)
        return answer


@dataclass(frozen=True, slots=True)
class _Call:
    target: Target
    backend: Address
    context: ClientContext
    session: Session | None
    http: bool
    keep: int


def _handshake_failure(answer: HttpAnswer | Failure | None) -> Failure | None:
    """Return the failure if it says that the handshake was not accepted after all.

    In TLS 1.3 a server tells only in its first answer that it misses a client's certificate.
    """
    return answer if isinstance(answer, Failure) and answer.stage is Stage.HANDSHAKE else None
