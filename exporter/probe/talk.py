"""What is said on one connection: the handshake, the tickets, a request, and the farewell."""

import asyncio
import contextlib

from exporter import __version__
from exporter.model.connections import HttpAnswer
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Timing
from exporter.model.target import HttpSettings, Target
from exporter.probe import errors
from exporter.probe.connection import Connection
from exporter.probe.stopwatch import Lap, LapTime, Stopwatch
from exporter.wire.http1 import Exchange, HttpProgress, unexpected_status
from exporter.wire.tls import Step, TlsClient

USER_AGENT = f"tlsprobe/{__version__} (tls-resumption-exporter)"

_TICKET_PATIENCE = 0.3  # silence for so long after a handshake means that no ticket comes


async def shake(engine: TlsClient, connection: Connection, watch: Stopwatch) -> Timing | Failure:
    """Pump until the handshake is done."""
    try:
        await watch.send_hello(watch.step(engine.start).send)
        while True:
            step = await _next_step(engine, connection, watch)
            if step.done or step.failure:
                if step.send:
                    await connection.send(step.send)
                return step.failure or watch.stop(step.pending)
            if step.send:
                await watch.send(step.send)
    except TimeoutError:
        return Failure(Stage.HANDSHAKE, Reason.STALLED if engine.started else Reason.TIMEOUT)
    except OSError as error:
        return errors.explain_stream(Stage.HANDSHAKE, error)


async def _next_step(engine: TlsClient, connection: Connection, watch: Stopwatch) -> Step:
    piece = await connection.receive()
    if piece is None or not piece.data:
        return engine.receive_eof()
    watch.arrive(piece)
    return watch.step(lambda: engine.receive(piece.data))


async def take_tickets(engine: TlsClient, connection: Connection, *, patient: bool) -> Failure | None:
    """Read what came behind the handshake and, if patient, wait for the first ticket."""
    step = engine.receive(b"")
    if not patient:
        return step.failure
    try:
        while not (step.failure or step.closed or engine.ticket_count):
            piece = await connection.receive(_patience(connection))
            if piece is None:
                return None
            step = engine.receive(piece.data) if piece.data else engine.receive_eof()
    except TimeoutError:
        return None
    except OSError as error:
        return errors.explain_stream(Stage.HANDSHAKE, error)
    return step.failure


def _patience(connection: Connection) -> float:
    """Return how long to wait for a ticket: a round trip at the least."""
    return max(_TICKET_PATIENCE, 4 * (connection.path.rtt or 0.0))


async def exchange(target: Target, engine: TlsClient, connection: Connection) -> HttpAnswer | Failure:
    """Send the target's request and read the answer to its end."""
    settings = target.http
    request = Exchange(settings, target.server_name, target.endpoint.port, user_agent=USER_AGENT)
    lap = Lap(connection)
    first: LapTime | None = None
    progress = HttpProgress()
    try:
        await lap.send(engine.send(request.request))
        while not (progress.done or progress.failure):
            piece = await connection.receive()
            if piece is None or not piece.data:
                engine.receive_eof()
                progress = request.receive_eof()
                continue
            lap.arrive(piece)
            step = engine.receive(piece.data)
            if step.data and first is None:
                first = lap.time()
            progress = _feed(request, step)
    except TimeoutError:
        return Failure(Stage.HTTP, Reason.STALLED if first else Reason.TIMEOUT)
    except OSError as error:
        return errors.explain_stream(Stage.HTTP, error)
    return progress.failure or _answer(progress, first, settings)


def _feed(exchange: Exchange, step: Step) -> HttpProgress:
    if step.failure:
        return HttpProgress(failure=step.failure)
    progress = exchange.receive(step.data) if step.data else HttpProgress()
    if step.closed and not (progress.done or progress.failure):
        return exchange.receive_eof()
    return progress


def _answer(progress: HttpProgress, first: LapTime | None, settings: HttpSettings) -> HttpAnswer | Failure:
    if first is None:
        return Failure(Stage.HTTP, Reason.CLOSED)
    return HttpAnswer(
        status=progress.status,
        version=progress.version,
        body_bytes=progress.body_bytes,
        duration=first.duration,
        keep_alive=progress.keep_alive,
        disturbed=first.disturbed,
        unexpected=unexpected_status(settings, progress.status),
    )


async def part(engine: TlsClient, connection: Connection, *, linger: bool) -> Failure | None:
    """Send close_notify, without which some servers drop the session (OpenSSL's stateful tickets).

    Args:
        linger: whether to read on for what the server sends behind the handshake: its tickets, which it must be able to
            send without an error, and its word that it did not accept us.
    """
    farewell = engine.close()
    if farewell:
        with contextlib.suppress(OSError):  # the server may be gone, and its last word still waits to be read
            await connection.send(farewell)
    if not linger:
        return None
    connection.finish_sending()
    try:
        return await _linger(engine, connection)
    except OSError:
        return None


async def _linger(engine: TlsClient, connection: Connection) -> Failure | None:
    loop = asyncio.get_running_loop()
    step = engine.receive(b"")
    end = loop.time() + _patience(connection)
    while not (step.failure or step.closed):
        left = end - loop.time()
        piece = await connection.receive(left) if left > 0 else None  # a server may send without end
        if piece is None or not piece.data:
            return None
        step = engine.receive(piece.data)
    return step.failure
