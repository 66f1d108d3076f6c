"""The composition root: the only file that knows all the parts."""

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import structlog
from structlog.typing import FilteringBoundLogger

from exporter import __version__
from exporter.config.settings import Config
from exporter.discovery.dns import Resolver
from exporter.metrics.collector import LedgerCollector
from exporter.metrics.exposition import render
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from exporter.metrics.own import OwnCollector, Reload, Sources, this_build
from exporter.metrics.wave import WaveCollector
from exporter.metrics.yardstick import YardstickAccount, YardstickCollector
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.keys import KeyRecord
from exporter.model.target import IdleScope, Target, TlsVersion
from exporter.model.verdicts import ForeignOffer, RoundResult, VersionVerdict
from exporter.probe.dial import Dialler
from exporter.probe.idling import IdleWatch
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from exporter.probe.statefile import StateFile
from exporter.reference.sampling import keep_sampling
from exporter.reference.supervisor import CONTROL_NAME, TARGET_NAME, Life, Reference
from exporter.reference.truth import check_truth
from exporter.schedule.scheduler import keep_beat
from exporter.verdict.findings import asides_of, dangers_of, differences_of, ends_of, events_of, mismatches_of
from exporter.verdict.history import EMPTY, History
from exporter.verdict.keybook import records_of
from exporter.verdict.rules import Rules
from exporter.verdict.sentence import explain
from exporter.web.door import Door
from exporter.web.listen import ListenError
from exporter.web.pages import Pages
from exporter.web.ready import why_not_ready
from exporter.web.server import serve

_log: FilteringBoundLogger = structlog.get_logger()

STOPPED, FAILED = 0, 1


async def run(config: Config, door: Door) -> int:
    """Probe and serve until SIGTERM or SIGINT; return the exit code."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, _tell_hangup)
    code = STOPPED
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(_serve(config, door), name="serve")
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


async def _serve(config: Config, door: Door) -> None:
    """Start all parts in the order in which they need each other, and end them the other way round."""
    daemon = Daemon(config)
    async with AsyncExitStack() as stack:
        stack.callback(daemon.close)
        served = await stack.enter_async_context(serve(door, daemon.pages()))
        for address in served.places:
            _log.info("serving", address=address, version=__version__)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        group.create_task(served.renew(), name="web configuration")
        targets = list(config.targets)
        if (yardstick := daemon.yardstick) is not None:
            life = Life(tell_ended=yardstick.count_restart)
            reference = await stack.enter_async_context(Reference.start(group, life))
            interval = config.reference.interval
            group.create_task(keep_sampling(reference.take_sample, interval, yardstick, time.time), name="yardstick")
            targets += [reference.target(interval), reference.control_target(interval)]
        if config.ticket_keys.state_file is not None:
            file = StateFile(Path(config.ticket_keys.state_file), config.ticket_keys.salt, time.time)
            daemon.begin_with(await file.recall())
            names = [target.name for target in config.targets]  # the reference makes its keys anew at each start
            group.create_task(file.keep(lambda: daemon.known_keys(names)), name="state file")
        await daemon.keep_beat(targets)


class Daemon:
    """The state of a running exporter: what is remembered of each target, and what was counted.

    Attributes:
        yardstick: where samples of the reference go, None where that is off.
    """

    def __init__(self, config: Config) -> None:
        self._dialler = Dialler()
        self._resolver = Resolver()
        self._prober = Prober(
            Means(self._dialler.dial, time.monotonic, time.time, random.random, self._dialler.ask_staple),
            Rules(hold=config.ticket_keys.hold, grace=config.ticket_keys.grace, salt=config.ticket_keys.salt),
        )
        self._salt = config.ticket_keys.salt
        self._wave = config.wave
        self.yardstick = YardstickAccount() if config.reference.enabled else None
        self._ledger = Ledger()
        self._memories: dict[str, Memory] = {}
        self._histories: Mapping[str, History] = {}
        self._judged: dict[str, Mapping[TlsVersion, VersionVerdict]] = {}
        self._begun: set[str] = set()
        self._number_of_targets: int | None = None
        self._started = time.monotonic()
        self._loaded = time.time()

    def close(self) -> None:
        """Give back what is held for the process's life."""
        self._dialler.close()

    def begin_with(self, histories: Mapping[str, History]) -> None:
        """Take over what was known of targets before a restart."""
        self._histories = histories

    def known_keys(self, names: Iterable[str]) -> Mapping[str, tuple[KeyRecord, ...]]:
        """Return what a restart must know of the keys of these targets."""
        return {name: records_of(self._memories[name].history) for name in names if name in self._memories}

    async def keep_beat(self, targets: Sequence[Target]) -> None:
        """Probe the targets round after round, until cancelled."""
        self._number_of_targets = sum(target.name != CONTROL_NAME for target in targets)
        for target in targets:
            self._memories[target.name] = memory = Memory(history=self._histories.get(target.name, EMPTY))
            if target.http.enabled and target.probe.idle is not IdleScope.OFF:
                memory.watch = IdleWatch(target, self._dialler.hold, time.monotonic)
            _tell_unshareable(target, targets)
            if target.name != CONTROL_NAME:
                self._ledger.admit(target)
        async with asyncio.TaskGroup() as group:
            for target in targets:
                if (watch := self._memories[target.name].watch) is not None:
                    group.create_task(self._hold(target, watch), name=f"hold for {target.name}")
            await keep_beat(targets, self._run_round, self._count_missed, self._count_bug)

    def pages(self) -> Pages:
        """Return what the web side shows."""
        faults = Faults(_tell_fault)
        sources = Sources(
            starvation=self._ledger.starvation,
            timing_source=self._ledger.timing_source,
            reload=lambda: Reload(successful=True, succeeded_at=self._loaded),
            reference_ok=self._reference_ok,
        )
        collectors = (
            LedgerCollector(self._ledger, faults, self._salt),
            WaveCollector(self._wave),
            YardstickCollector(self.yardstick),
            OwnCollector(this_build(), sources, faults),
        )
        return Pages(
            render=lambda accept: render(collectors, accept, faults),
            why_not_ready=self._why_not_ready,
            targets=lambda: self._number_of_targets or 0,
            version=__version__,
        )

    async def _run_round(self, target: Target) -> None:
        if target.name != CONTROL_NAME:
            self._begun.add(target.name)
        found = await self._resolver.resolve(target)
        others = {name: self._memories[name] for name in target.share_with if name in self._memories}
        result = await self._prober.run_round(target, found, self._memories[target.name], others)
        self._judged[target.name] = result.verdicts
        if target.name == CONTROL_NAME:
            return
        self._ledger.fold(result)
        _tell_round(result, self._salt)

    async def _hold(self, target: Target, watch: IdleWatch) -> None:
        try:
            await watch.run()
        except Exception as error:  # noqa: BLE001 -- a bug in one target's watch must not end all the rest
            self._count_bug(target, error)

    def _count_missed(self, target: Target, ticks: int) -> None:
        self._ledger.missed(target.name, ticks)
        _log.warning("round overran", target=target.name, ticks_missed=ticks)

    def _count_bug(self, target: Target, error: BaseException) -> None:
        self._ledger.failed(target.name, Failure(Stage.PROBE, Reason.BUG, type(error).__name__))
        _log.error("a round failed by a bug of ours", target=target.name, exc_info=error)

    def _why_not_ready(self) -> str | None:
        return why_not_ready(
            loaded=self._number_of_targets is not None,
            targets=self._number_of_targets or 0,
            begun=len(self._begun),
            waited=time.monotonic() - self._started,
        )

    def _reference_ok(self) -> bool | None:
        if TARGET_NAME not in self._judged or CONTROL_NAME not in self._judged:
            return None
        return check_truth(self._judged[TARGET_NAME], self._judged[CONTROL_NAME]).ok


def _tell_round(result: RoundResult, salt: bytes) -> None:
    """Write the one line that a round is worth: a warning as long as there is anything to look after."""
    expected = result.target.expect.resumption
    told = {version: explain(version, verdict, expected) for version, verdict in result.verdicts.items()}
    findings = [each for each in told.values() if not each.healthy]
    events = [
        f"TLS {version}: {event}" for version, verdict in result.verdicts.items() for event in events_of(verdict, salt)
    ]
    verdicts = result.verdicts.values()
    dangers = {str(danger) for verdict in verdicts for danger in dangers_of(verdict)}
    differences = {str(found) for verdict in verdicts for found in differences_of(verdict)}
    connections = [*asides_of(result), *(found for verdict in verdicts for found in mismatches_of(verdict))]
    troubled = result.failures or events or findings or differences or connections
    tell: Callable[..., object] = _log.warning if troubled else _log.info
    tell(
        "round",
        target=result.target.name,
        number=result.number,
        seconds=round(result.elapsed, 3),
        backends=len(result.backends),
        connections=len(result.observations),
        **{f"tls{version}": verdict.state for version, verdict in result.verdicts.items()},
        **_where_there_is(
            odd=sorted({str(backend) for verdict in result.verdicts.values() for backend in verdict.odd}),
            findings=[each.text for each in findings],
            advice=list(dict.fromkeys(each.advice for each in findings if each.advice)),
            events=events,
            dangers=sorted(dangers),
            differences=sorted(differences),
            connections=[str(found) for found in (*connections, *ends_of(result))],
            foreign=[_foreign_words(offer) for offer in result.foreign],
            failures=[_counted(words, number) for words, number in Counter(_failures(result)).items()],
        ),
    )


def _where_there_is(**lists: list[str]) -> dict[str, list[str]]:
    return {name: words for name, words in lists.items() if words}


def _failures(result: RoundResult) -> Iterator[str]:
    return (str(failure) if backend is None else f"{backend} {failure}" for backend, failure in result.failures)


def _counted(words: str, number: int) -> str:
    return words if number == 1 else f"{words} ({number} times)"


def _foreign_words(offer: ForeignOffer) -> str:
    return f"{offer.issuer_target} {offer.version} {offer.outcome}"


def _tell_unshareable(target: Target, targets: Sequence[Target]) -> None:
    """Say which sessions will not be offered, since those of other TLS settings cannot be."""
    for other in targets:
        if other.name in target.share_with and other.tls != target.tls:
            why = "their TLS settings differ"
            _log.warning("sessions will not be offered", target=target.name, issuer_target=other.name, why=why)


def _tell_hangup() -> None:
    _log.warning("SIGHUP changes nothing: restart to take up a changed configuration")


def _flatten(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _flatten(error)
        else:
            yield error


def _tell_fault(part: str, error: Exception) -> None:
    _log.error("part of the exposition failed", part=part, exc_info=error)
