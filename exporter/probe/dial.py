"""Connections to backends: connect, handshake, take the tickets, ask over HTTP, part politely or hold on."""

import asyncio
import math
import ssl
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from exporter.model.connections import HttpAnswer, Reuse, Staple
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake
from exporter.model.target import Address, Target, TlsSettings, TlsVersion
from exporter.probe.connection import Connection
from exporter.probe.errand import PLAIN, Errand
from exporter.probe.gates import Gates
from exporter.probe.held import Held
from exporter.probe.reach import advise, connect, lead_to_tls
from exporter.probe.requests import Patience, Requests, reuse
from exporter.probe.stamps import RunDelay, hold_anchor
from exporter.probe.stapling import ask_staple
from exporter.probe.starvation import is_ours
from exporter.probe.stopwatch import Stopwatch
from exporter.probe.talk import part, shake, take_tickets
from exporter.wire.context import ClientContext, Contexts
from exporter.wire.prelude.farewell import last_words
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
    """Dialler.dial, which is all that most of a round needs of a dialler."""

    async def __call__(
        self,
        target: Target,
        backend: Address,
        version: TlsVersion,
        session: Session | None = None,
        errand: Errand = PLAIN,
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

    def keep_contexts(self, wanted: Collection[TlsSettings]) -> None:
        """Let go of the TLS contexts of all other settings; one that is asked for again is made again."""
        self._contexts.keep(wanted)

    async def dial(
        self,
        target: Target,
        backend: Address,
        version: TlsVersion,
        session: Session | None = None,
        errand: Errand = PLAIN,
    ) -> Dialled:
        """Connect to a backend and shake hands.

        Where the certificate does not verify, a second connection without verification brings the facts all the same.

        Args:
            session: what to offer; its own context is used.
            errand: what to do then.
        """
        until = asyncio.get_running_loop().time() + errand.within
        try:
            context = session.context if session else self._contexts.get(target.tls, version, verify=target.tls.verify)
            dialled = await self._dial_steadily(_Call(target, backend, context, session, errand, until))
            outcome = dialled.outcome
            if not isinstance(outcome, Failure) or outcome.stage is not Stage.VERIFY:
                return dialled
            lenient = self._contexts.get(target.tls, version, verify=False)
            again = await self._dial_steadily(_Call(target, backend, lenient, None, errand, until))
        except (OSError, ssl.SSLError) as error:
            return Dialled(Failure(Stage.PROBE, Reason.SETTINGS, str(error)))
        starved = dialled.starved + again.starved
        if isinstance(again.outcome, Failure):
            return Dialled(outcome, starved=starved)
        return replace(again, outcome=replace(again.outcome, verify_failure=outcome), starved=starved)

    async def hold(self, target: Target, backend: Address, version: TlsVersion) -> Held | Failure:
        """Connect, shake hands without verification, and send the target's request; the caller closes what it gets."""
        try:
            context = self._contexts.get(target.tls, version, verify=False)
        except (OSError, ssl.SSLError) as error:
            return Failure(Stage.PROBE, Reason.SETTINGS, str(error))
        call = _Call(target, backend, context, None, Errand(http=True))
        async with self._gates.at(backend):
            connection = await connect(target, backend)
            if isinstance(connection, Failure):
                return connection
            held: Held | Failure | None = None
            try:
                held = await self._hold(call, connection)
            finally:
                if not isinstance(held, Held):
                    connection.close()
        return held

    async def ask_staple(self, target: Target, backend: Address, version: TlsVersion) -> Staple | Failure:
        """Ask for a stapled OCSP answer in a handshake of its own; a failure is one of that handshake."""
        async with self._gates.at(backend):
            return await ask_staple(target, backend, version)

    async def _dial_steadily(self, call: "_Call") -> Dialled:
        """Dial, and once more where a failure may well be our own: we had too little processor time."""
        async with self._gates.at(call.backend):
            dialled, lateness = await self._dial_once(call)
            if dialled.failure is None or not is_ours(dialled.failure, lateness, call.target.timeout):
                return dialled
            again, lateness = await self._dial_once(call)
        first = Failure(Stage.PROBE, Reason.STARVED, str(dialled.failure))
        if again.failure is not None and is_ours(again.failure, lateness, call.target.timeout):
            return Dialled(Failure(Stage.PROBE, Reason.STARVED, str(again.failure)), starved=(first,))
        return replace(again, starved=(first,))

    async def _dial_once(self, call: "_Call") -> tuple[Dialled, float]:
        """Return what one connection brought, and by how many seconds we were late at it."""
        began = asyncio.get_running_loop().time()
        connection = await connect(call.target, call.backend)
        if isinstance(connection, Failure):
            late = asyncio.get_running_loop().time() - began - call.target.timeout
            return Dialled(connection), late if connection.reason is Reason.TIMEOUT else 0.0
        try:
            failure = await lead_to_tls(call.target, call.backend, connection)
            return (Dialled(failure), connection.overdue) if failure else await self._talk(call, connection)
        finally:
            connection.close()

    async def _talk(self, call: "_Call", connection: Connection) -> tuple[Dialled, float]:
        errand = call.errand
        engine = TlsClient(call.context, call.target.server_name, call.session, keep=errand.keep)
        watch = Stopwatch(connection, self._run_delay)
        shaken = await shake(engine, connection, watch, errand.cut)
        if isinstance(shaken, Failure):
            # Where something worked before, or a session was offered, other causes are likelier.
            new = call.session is None and call.habit not in self._late_tickets
            failure = advise(call.target, shaken, started=engine.started) if new else shaken
            return Dialled(failure), watch.lateness()
        answer: HttpAnswer | Failure | None = None
        further: Reuse | None = None
        if errand.http:
            answer, further = await self._ask(call, engine, connection)
        parting = await part(engine, connection, last_words(call.target.starttls), linger=not errand.http)
        if rejected := parting or _handshake_failure(answer):
            return Dialled(rejected), watch.lateness()
        return Dialled(Handshake(engine.facts, shaken, http=answer, reuse=further), engine.sessions), watch.lateness()

    async def _hold(self, call: "_Call", connection: Connection) -> Held | Failure:
        failure = await lead_to_tls(call.target, call.backend, connection)
        if failure:
            return failure
        engine = TlsClient(call.context, call.target.server_name)
        shaken = await shake(engine, connection, Stopwatch(connection, self._run_delay))
        if isinstance(shaken, Failure):
            return shaken
        requests = await self._begin_requests(call, engine, connection)
        if isinstance(requests, Failure):
            return requests
        return Held(requests, await requests.ask(), engine, connection)

    async def _ask(
        self, call: "_Call", engine: TlsClient, connection: Connection
    ) -> tuple[HttpAnswer | Failure, Reuse | None]:
        """Send the request, and the further ones where they are wanted."""
        requests = await self._begin_requests(call, engine, connection)
        if isinstance(requests, Failure):
            return requests, None
        early = engine.ticket_count > 0
        first = await requests.ask()
        self._learn_habit(call, early=early)
        errand = call.errand
        if isinstance(first.outcome, Failure) or (errand.requests < 2 and not errand.large):
            return first.outcome, None
        large = call.target.http.large_path if errand.large else None
        patience = Patience(call.target.timeout, call.until)
        further = await reuse(requests, first, connection, wanted=errand.requests - 1, patience=patience, large=large)
        return first.outcome, further

    async def _begin_requests(self, call: "_Call", engine: TlsClient, connection: Connection) -> Requests | Failure:
        """Take the tickets first, so that the wait for an answer ends with the answer and not with a ticket."""
        # In TLS 1.2 the ticket came amid the handshake.
        expected = call.context.version is TlsVersion.TLS13 and not self._late_tickets.get(call.habit, False)
        early = await take_tickets(engine, connection, patient=expected)
        return early.failure or Requests(call.target, engine, connection, early.data)

    def _learn_habit(self, call: "_Call", *, early: bool) -> None:
        self._late_tickets[call.habit] = not early
        self._late_tickets.move_to_end(call.habit)
        if len(self._late_tickets) > _REMEMBERED:
            self._late_tickets.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Call:
    target: Target
    backend: Address
    context: ClientContext
    session: Session | None
    errand: Errand
    until: float = math.inf
    """By the loop's clock, when further requests must be over."""

    @property
    def habit(self) -> tuple[Address, TlsVersion]:
        """By what is remembered when a server sends its tickets."""
        return self.backend, self.context.version


def _handshake_failure(answer: HttpAnswer | Failure | None) -> Failure | None:
    """Return the failure if it says that the handshake was not accepted after all.

    In TLS 1.3 a server tells only in its first answer that it misses a client's certificate.
    """
    return answer if isinstance(answer, Failure) and answer.stage is Stage.HANDSHAKE else None
