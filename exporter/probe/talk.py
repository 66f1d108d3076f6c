"""What is said on one connection around its requests: what goes ahead of TLS, the handshake, the farewell."""

import asyncio
import contextlib
from typing import NamedTuple

from exporter.model.connections import HelloSplit
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Timing
from exporter.probe import errors
from exporter.probe.connection import Connection
from exporter.probe.stopwatch import Stopwatch
from exporter.wire.prelude import Prelude
from exporter.wire.split import split
from exporter.wire.tls import Step, TlsClient

_BETWEEN_PARTS = 0.02
"""Seconds: enough for a server on the way to read one part of a hello before the next one comes."""
_MOST_EARLY_BYTES = 1 << 16
_TICKET_PATIENCE = 0.3  # silence for so long after a handshake means that no ticket comes


async def precede(prelude: Prelude, connection: Connection) -> Failure | None:
    """Say what goes ahead of TLS, and return why TLS cannot follow, if it cannot."""
    try:
        step = prelude.start()
        while True:
            if step.send:
                await connection.send(step.send)
            if step.failure or step.done:
                connection.unread(step.pending)
                return step.failure
            piece = await connection.receive()
            step = prelude.receive(piece.data) if piece is not None and piece.data else prelude.receive_eof()
    except TimeoutError:
        return Failure(prelude.stage, Reason.STALLED if prelude.started else Reason.TIMEOUT)
    except OSError as error:
        return errors.explain_stream(prelude.stage, error)


async def shake(
    engine: TlsClient, connection: Connection, watch: Stopwatch, cut: HelloSplit | None = None
) -> Timing | Failure:
    """Pump until the handshake is done.

    Args:
        cut: how the ClientHello is cut in two; the times are worth nothing then.
    """
    try:
        await _send_hello(watch.step(engine.start).send, connection, watch, cut)
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


async def _send_hello(flight: bytes, connection: Connection, watch: Stopwatch, how: HelloSplit | None) -> None:
    if how is None:
        await watch.send_hello(flight)
        return
    *ahead, last = split(flight, how)
    for piece in ahead:
        await connection.send(piece)
        await asyncio.sleep(_BETWEEN_PARTS)
    await watch.send_hello(last)


async def _next_step(engine: TlsClient, connection: Connection, watch: Stopwatch) -> Step:
    piece = await connection.receive()
    if piece is None or not piece.data:
        return engine.receive_eof()
    watch.arrive(piece)
    return watch.step(lambda: engine.receive(piece.data))


class Early(NamedTuple):
    """What came between a handshake and the first request.

    Attributes:
        failure: why no request can be made.
        data: what the server said without being asked, such as HTTP/2's SETTINGS.
    """

    failure: Failure | None = None
    data: bytes = b""


async def take_tickets(engine: TlsClient, connection: Connection, *, patient: bool) -> Early:
    """Read what came behind the handshake and, if patient, wait for the first ticket."""
    step = engine.receive(b"")
    data = step.data
    if not patient:
        return Early(step.failure, data)
    try:
        while not (step.failure or step.closed or engine.ticket_count):
            piece = await connection.receive(_patience(connection))
            if piece is None:
                return Early(None, data)
            step = engine.receive(piece.data) if piece.data else engine.receive_eof()
            data += step.data
            if len(data) > _MOST_EARLY_BYTES:
                return Early(Failure(Stage.HTTP, Reason.UNASKED), data)
    except TimeoutError:
        return Early(None, data)
    except OSError as error:
        return Early(errors.explain_stream(Stage.HANDSHAKE, error))
    return Early(step.failure, data)


def _patience(connection: Connection) -> float:
    """Return how long to wait for a ticket: a round trip at the least."""
    return max(_TICKET_PATIENCE, 4 * (connection.path.rtt or 0.0))


async def part(engine: TlsClient, connection: Connection, words: bytes = b"", *, linger: bool) -> Failure | None:
    """Send close_notify, without which some servers drop the session (OpenSSL's stateful tickets).

    Args:
        words: what goes ahead of it, so that the server does not take us for a client that broke off.
        linger: whether to read on for what the server sends behind the handshake: its tickets, which it must be able to
            send without an error, and its word that it did not accept us.
    """
    farewell = (engine.send(words) if words else b"") + engine.close()
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
