"""Asking for a stapled OCSP answer, in a handshake that is made for nothing else."""

import contextlib
import time
from functools import lru_cache

import structlog
from structlog.typing import FilteringBoundLogger

from exporter.model.connections import Staple
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Address, Target, TlsVersion
from exporter.probe import errors
from exporter.probe.connection import Connection
from exporter.probe.reach import connect, lead_to_tls
from exporter.wire.ocsp import read_staple
from exporter.wire.prelude.farewell import last_words
from exporter.wire.staple import StapleClient

_log: FilteringBoundLogger = structlog.get_logger()


async def ask_staple(target: Target, backend: Address, version: TlsVersion) -> Staple | Failure:
    """Shake hands and return what was stapled, or that nothing was.

    A failure is one of the handshake, or says why none can be begun; that goes to the log, too, since no metric has it.
    """
    try:
        engine = StapleClient(target.tls, version, target.server_name)
    except (OSError, ValueError) as error:
        _warn(str(error))
        return Failure(Stage.PROBE, Reason.SETTINGS, str(error))
    connection = await connect(target, backend)
    if isinstance(connection, Failure):
        return connection
    try:
        failure = await lead_to_tls(target, backend, connection) or await _shake(
            engine, connection, last_words(target.starttls)
        )
    finally:
        connection.close()
    return failure or read_staple(engine.staple, time.time(), engine.leaf)


@lru_cache(maxsize=64)
def _warn(words: str) -> None:
    """Write it once, for it is the same at each backend and each time."""
    _log.warning("stapled OCSP answers cannot be asked for", error=words)


async def _shake(engine: StapleClient, connection: Connection, words: bytes) -> Failure | None:
    try:
        step = engine.start()
        while True:
            if step.send:
                await connection.send(step.send)
            if step.failure or step.done:
                break
            piece = await connection.receive()
            step = engine.receive(piece.data) if piece is not None and piece.data else engine.receive_eof()
    except TimeoutError:
        return Failure(Stage.HANDSHAKE, Reason.STALLED if engine.started else Reason.TIMEOUT)
    except OSError as error:
        return errors.explain_stream(Stage.HANDSHAKE, error)
    with contextlib.suppress(OSError):
        await connection.send(engine.close(words))
    return step.failure
