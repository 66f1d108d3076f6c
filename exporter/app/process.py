"""A daemon's life, from the first signal handler to the last line."""

import asyncio
import signal
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from structlog.typing import FilteringBoundLogger

from exporter import __version__
from exporter.app.daemon import Daemon
from exporter.app.garbage import leave_out_what_stays
from exporter.app.reloading import Reloader
from exporter.config.contents import Contents
from exporter.config.settings import Config
from exporter.discovery.finder import open_finder
from exporter.discovery.shard import WHOLE, Shard
from exporter.model.target import Target
from exporter.probe.statefile import StateFile
from exporter.reference.sampling import keep_sampling
from exporter.reference.supervisor import Life, Reference
from exporter.web.door import Door
from exporter.web.listen import ListenError
from exporter.web.server import serve

_log: FilteringBoundLogger = structlog.get_logger()

STOPPED, FAILED = 0, 1


@dataclass(frozen=True, slots=True)
class Start:
    """What a daemon begins with.

    Attributes:
        file: that the configuration was read from; None where there is none, and nothing ever changes.
        contents: what it held then, and the files that it names.
        shard: which of the targets are ours.
    """

    config: Config
    file: Path | None = None
    contents: Contents = field(default_factory=Contents)
    shard: Shard = WHOLE


async def run(start: Start, door: Door) -> int:
    """Probe and serve until SIGTERM or SIGINT; return the exit code."""
    stop, hangup = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, _tell_hangup if start.file is None else hangup.set)
    code = STOPPED
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(_serve(start, door, hangup), name="serve")
            stopping = group.create_task(stop.wait(), name="stop")
            await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
            serving.cancel()
            stopping.cancel()
    except* (ListenError, OSError) as errors:
        for error in _flatten(errors):
            _log.error("cannot start", error=str(error))
        code = FAILED
    _log.info("stopped")
    return code


async def _serve(start: Start, door: Door, hangup: asyncio.Event) -> None:
    """Start all parts in the order in which they need each other, and end them the other way round."""
    config = start.config
    async with asyncio.TaskGroup() as group, AsyncExitStack() as stack:
        finder = await stack.enter_async_context(open_finder())
        daemon = Daemon(config, group, finder.resolve, start.shard)
        stack.callback(daemon.close)
        reloader = None
        if start.file is not None:
            reloader = Reloader(start.file, config, start.contents, daemon.take_up)
        served = await stack.enter_async_context(serve(door, daemon.pages(reloader)))
        for address in served.places:
            _log.info("serving", address=address, version=__version__)
        group.create_task(served.renew(), name="web configuration")
        built_in: list[Target] = []
        if (yardstick := daemon.yardstick) is not None:
            life = Life(tell_ended=yardstick.count_restart)
            reference = await stack.enter_async_context(Reference.start(group, life))
            interval = config.reference.interval
            group.create_task(keep_sampling(reference.take_sample, interval, yardstick, time.time), name="yardstick")
            built_in = [reference.target(interval), reference.control_target(interval)]
        file = None
        if config.ticket_keys.state_file is not None:
            file = StateFile(Path(config.ticket_keys.state_file), config.ticket_keys.salt, time.time)
        daemon.begin_with(built_in, {} if file is None else await file.recall())
        daemon.take_up(config)
        if file is not None:
            group.create_task(file.keep(daemon.known_keys), name="state file")
        if reloader is not None:
            group.create_task(reloader.heed(hangup), name="reload at a signal")
            group.create_task(reloader.watch(), name="reload of changed files")
        leave_out_what_stays()
        await asyncio.Event().wait()  # the tasks go on until we are cancelled


def _tell_hangup() -> None:
    _log.warning("SIGHUP changes nothing: there is no configuration file to read again")


def _flatten(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _flatten(error)
        else:
            yield error
