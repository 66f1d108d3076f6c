"""Requests on one TLS connection, one after the other, and what becomes of it between them."""

import asyncio
from dataclasses import dataclass, replace
from typing import NamedTuple

from exporter import __version__
from exporter.model.connections import End, HttpAnswer, Reuse
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import HttpSettings, Target
from exporter.probe import errors
from exporter.probe.connection import Connection
from exporter.probe.stopwatch import Lap, LapTime
from exporter.wire.http import Conversation, HttpProgress, converse, unexpected_status
from exporter.wire.tls import Step, TlsClient

USER_AGENT = f"tlsprobe/{__version__} (tls-resumption-exporter)"


class Answered(NamedTuple):
    """What came of a request.

    Attributes:
        end: why the connection carries no other; None if it does.
        goaway: HTTP/2's error code in the server's GOAWAY, None without one.
    """

    outcome: HttpAnswer | Failure
    end: End | None = None
    goaway: int | None = None


class Requests:
    """The requests of a target on a connection whose handshake is done.

    Args:
        early: what the server said before any request was made.

    Attributes:
        said_goodbye: the server announced the connection's end: GOAWAY, close_notify or `Connection: close`.
    """

    def __init__(self, target: Target, engine: TlsClient, connection: Connection, early: bytes) -> None:
        self.said_goodbye = False
        self._settings: HttpSettings = target.http
        self._engine = engine
        self._connection = connection
        self._conversation: Conversation = converse(
            engine.facts.alpn, target.http, target.server_name, target.endpoint.port, user_agent=USER_AGENT
        )
        self._early = early
        self._first: LapTime | None = None

    async def ask(self, path: str | None = None) -> Answered:
        """Send a request and read its answer to the end.

        Args:
            path: what to ask for instead of the target's path.
        """
        lap = self._begin()
        try:
            progress = await self._hear_early()
            if progress.failure is None and progress.end is None:
                await lap.send(self._engine.send(self._conversation.ask(path)))
                progress = await self._read_answer(lap)
        except TimeoutError:
            failure = Failure(Stage.HTTP, Reason.STALLED if self._first else Reason.TIMEOUT)
            return Answered(failure, End.ERROR)
        except OSError as error:
            end = End.ERROR if self._first else End.IN_FLIGHT
            return Answered(errors.explain_stream(Stage.HTTP, error), end)
        self.said_goodbye = self.said_goodbye or progress.end in _GOODBYES
        return Answered(self._outcome(progress), progress.end, progress.goaway)

    def explain_end(self) -> Failure | None:
        """Return what came unasked, or made no sense, behind a complete answer; None where nothing did."""
        return self._conversation.receive(b"").failure

    async def rest(self, seconds: float) -> End | None:
        """Ask nothing for so long; return how the connection ended meanwhile, None if it did not.

        Raises:
            TimeoutError: the connection's deadline passed.
            OSError: the path broke, rather than the peer.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        try:
            while (left := until - loop.time()) > 0:
                piece = await self._connection.receive(left)
                if piece is None:
                    return None
                step = self._engine.receive(piece.data) if piece.data else self._engine.receive_eof()
                self.said_goodbye = self.said_goodbye or (step.closed and bool(piece.data))
                progress = await self._feed(step)
                self.said_goodbye = self.said_goodbye or progress.end in _GOODBYES
                if step.failure:
                    return End.ERROR
                if progress.failure is not None and progress.failure.reason is Reason.UNASKED:
                    return End.CLOSED  # such as a 408, with which some servers end an idle connection
                if progress.end is not None or progress.failure is not None:
                    return progress.end or End.ERROR
        except ConnectionError:
            return End.RESET
        return None

    def _begin(self) -> Lap:
        self._engine.take_records()
        self._first = None
        return Lap(self._connection)

    async def _hear_early(self) -> HttpProgress:
        """Take what came before the first request: HTTP/2's greeting, or an answer that nobody asked for."""
        early, self._early = self._early, b""
        return await self._feed(Step(data=early)) if early else HttpProgress()

    async def _read_answer(self, lap: Lap) -> HttpProgress:
        progress = HttpProgress()
        while not (progress.done or progress.failure):
            piece = await self._connection.receive()
            if piece is None or not piece.data:
                self._engine.receive_eof()
                return self._conversation.receive_eof()
            lap.arrive(piece)
            step = self._engine.receive(piece.data)
            progress = await self._feed(step)
            if not progress.begun:
                self._engine.take_records()  # HTTP/2's own talk: what is noted begins with the answer
            elif self._first is None:
                self._first = lap.time()
        return progress

    async def _feed(self, step: Step) -> HttpProgress:
        """Pass decrypted bytes on, and send what the protocol itself has to say to them."""
        if step.failure:
            return HttpProgress(failure=step.failure, end=End.ERROR)
        progress = self._conversation.receive(step.data) if step.data else HttpProgress()
        reply = step.send + (self._engine.send(progress.send) if progress.send else b"")
        if reply:
            await self._connection.send(reply)
        if not step.closed or progress.failure or progress.end:
            return progress
        if not progress.done:
            return self._conversation.receive_eof()
        # close_notify behind the answer: no other request would be heard, though TCP may stay open.
        self.said_goodbye = True
        return replace(progress, keep_alive=False, end=self._conversation.receive_eof().end)

    def _outcome(self, progress: HttpProgress) -> HttpAnswer | Failure:
        if progress.failure is not None:
            return progress.failure
        if self._first is None:
            return Failure(Stage.HTTP, Reason.REJECTED, f"{progress.end} before any request")
        return HttpAnswer(
            status=progress.status,
            version=progress.version,
            body_bytes=progress.body_bytes,
            duration=self._first.duration,
            keep_alive=progress.keep_alive,
            disturbed=self._first.disturbed,
            unexpected=unexpected_status(self._settings, progress.status),
            announced=progress.announced,
            records=self._engine.take_records(),
        )


_GOODBYES = frozenset({End.CONNECTION_CLOSE, End.MAX_REQUESTS, End.GOAWAY, End.HTTP_1_0})


_LATE = frozenset({Reason.TIMEOUT, Reason.STALLED})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long requests behind the first may take.

    Attributes:
        each: seconds for one of them, and for all of them together before another one is begun.
        until: by the loop's clock, when all must be over; one that is under way then is given up, and tells nothing.
    """

    each: float
    until: float

    def left(self, now: float) -> float:
        """Return the seconds that a request may take which begins now."""
        return min(self.each, self.until - now)


async def reuse(
    requests: Requests, first: Answered, connection: Connection, *, wanted: int, patience: Patience, large: str | None
) -> Reuse:
    """Ask again and again on a connection whose first request was answered.

    Args:
        wanted: how many further requests.
        large: the path of a larger body to ask for at the end, None for no such request.
    """
    loop = asyncio.get_running_loop()
    last_begin = loop.time() + patience.left(loop.time())
    answers: list[HttpAnswer] = []
    last = first
    attempts = 0
    while attempts < wanted and loop.time() < last_begin:
        attempts += 1
        if last.end is not None:
            break
        answered = await _ask_in_time(requests, connection, patience, None)
        if answered is None:
            return Reuse(attempts - 1, tuple(answers), End.OWN_LIMIT)
        last = answered
        if isinstance(last.outcome, Failure):
            break
        answers.append(last.outcome)
    body = None
    if large is not None and last.end is None:
        body = await _ask_in_time(requests, connection, patience, large)
    end, failure = _how_ended(last)
    if end is End.ERROR and failure is None:
        failure = requests.explain_end()
    return Reuse(attempts, tuple(answers), end, failure, last.goaway, body and body.outcome)


async def _ask_in_time(
    requests: Requests, connection: Connection, patience: Patience, path: str | None
) -> Answered | None:
    """Ask; None where the answer was given up before the server had as long as it may take."""
    left = patience.left(asyncio.get_running_loop().time())
    if left <= 0:
        return None
    connection.allow(left)
    answered = await requests.ask(path)
    late = isinstance(answered.outcome, Failure) and answered.outcome.reason in _LATE
    return None if late and left < patience.each else answered


def _how_ended(last: Answered) -> tuple[End, Failure | None]:
    """Tell a connection that was closed behind an answer, which the next request came to know, from a failure."""
    failure = last.outcome if isinstance(last.outcome, Failure) else None
    if failure is not None and last.end is End.IN_FLIGHT:
        return End.RESET if failure.reason is Reason.RESET else End.CLOSED, None
    return last.end or End.OWN_LIMIT, failure
