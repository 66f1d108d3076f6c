"""The state of a running exporter: what is probed, what was counted, and what the pages show."""

import asyncio
import random
import time
from collections.abc import Mapping, Sequence

import structlog
from structlog.typing import FilteringBoundLogger

from exporter import __version__
from exporter.app.reloading import Reloader
from exporter.app.subjects import Ears, Find, Subjects
from exporter.app.telling import tell_round
from exporter.config.settings import Config
from exporter.discovery.outside import Board, Outside
from exporter.discovery.shard import WHOLE, Shard
from exporter.log import set_level
from exporter.metrics.collector import LedgerCollector
from exporter.metrics.exposition import render_pieces
from exporter.metrics.faults import Faults
from exporter.metrics.ledger import Ledger
from exporter.metrics.own import OwnCollector, Part, Sources, this_build
from exporter.metrics.sources import SourceCollector
from exporter.metrics.wave import WaveCollector
from exporter.metrics.yardstick import YardstickAccount, YardstickCollector
from exporter.model.failure import Failure, Reason, Stage
from exporter.model.keys import KeyRecord
from exporter.model.target import Target, TlsVersion
from exporter.model.verdicts import RoundResult, VersionVerdict
from exporter.probe.dial import Dialler
from exporter.probe.means import Means
from exporter.probe.memory import Memory
from exporter.probe.run import Prober
from exporter.reference.supervisor import CONTROL_NAME, TARGET_NAME
from exporter.reference.truth import check_truth
from exporter.schedule.roster import CONFIGURATION, Clash, Roster, Union
from exporter.schedule.sources import Sources as Outsiders
from exporter.verdict.history import History
from exporter.verdict.keybook import records_of
from exporter.verdict.rules import Rules
from exporter.web.pages import Pages
from exporter.web.ready import why_not_ready
from exporter.web.status.history import History as Stories
from exporter.web.status.status import Status

_BUILT_IN = frozenset({TARGET_NAME, CONTROL_NAME})

_log: FilteringBoundLogger = structlog.get_logger()


class Daemon:
    """The state of a running exporter: what is remembered of each target, and what was counted.

    Attributes:
        roster: takes the targets of all sources.
        yardstick: where samples of the reference go, None where that is off.

    Args:
        group: holds the tasks of all targets.
        find: says what a target stands for.
        shard: which of the targets are ours.
    """

    def __init__(self, config: Config, group: asyncio.TaskGroup, find: Find, shard: Shard = WHOLE) -> None:
        self.yardstick = YardstickAccount() if config.reference.enabled else None
        self.roster = Roster(self._apply, shard.choose)
        self._outsiders = Outsiders(group, self.roster, _tell_source_bug)
        self._board = Board()
        self._find = find
        self._dialler = Dialler()
        self._means = Means(self._dialler.dial, time.monotonic, time.time, random.random, self._dialler.ask_staple)
        ears = Ears(self._take, self._count_missed, self._count_bug)
        self._subjects = Subjects(group, self._dialler, find, Prober(self._means, _rules(config)), ears)
        self._salt = config.ticket_keys.salt
        self._wave = WaveCollector(config.wave)
        self._ledger = Ledger()
        self._stories = Stories(self._salt)
        self._histories: dict[str, History] = {}
        self._judged: dict[str, Mapping[TlsVersion, VersionVerdict]] = {}
        self._built_in: tuple[Target, ...] = ()
        self._union: Union | None = None
        self._shard = shard
        self._started = time.monotonic()

    def close(self) -> None:
        """Give back what is held for the process's life."""
        self._dialler.close()

    def begin_with(self, built_in: Sequence[Target], histories: Mapping[str, History]) -> None:
        """Take over, before the first configuration is taken up, what it does not say.

        Args:
            built_in: targets that every shard probes.
            histories: what was known of targets before a restart.
        """
        self._built_in = tuple(built_in)
        self._histories = dict(histories)

    def take_up(self, config: Config) -> None:
        """Go on as a configuration says, as far as that can change while we run."""
        set_level(config.log.level)
        self._subjects.prober = Prober(self._means, _rules(config))
        self._wave = WaveCollector(config.wave)
        self.roster.hand_over(CONFIGURATION, config.targets)
        self._board.keep([settings.name for settings in config.discover])
        self._outsiders.apply([Outside(settings, self._board) for settings in config.discover])

    def known_keys(self) -> Mapping[str, tuple[KeyRecord, ...]]:
        """Return what a restart must know of the keys of targets; the reference makes its keys anew at each start."""
        return {
            subject.target.name: records_of(subject.memory.history)
            for subject in self._subjects
            if subject.target.name not in _BUILT_IN
        }

    def pages(self, reloader: Reloader | None) -> Pages:
        """Return what the web side shows."""
        faults = Faults(_tell_fault)
        sources = Sources(
            starvation=self._ledger.starvation,
            timing_source=self._ledger.timing_source,
            reload=lambda: None if reloader is None else reloader.last,
            reference_ok=self._reference_ok,
            part=self._part,
        )
        ledger = LedgerCollector(self._ledger, faults, self._salt)
        others = (
            YardstickCollector(self.yardstick),
            SourceCollector(self._board.read),
            OwnCollector(this_build(), sources, faults),
        )
        return Pages(
            render=lambda accept: render_pieces((ledger, self._wave, *others), accept, faults),
            why_not_ready=self._why_not_ready,
            targets=lambda: len(self._shown()),
            version=__version__,
            reload=None if reloader is None else reloader.reload,
            status=Status(self._stories, self._make_round, self._salt),
            listed=lambda: [each.target for each in self._subjects if each.target.name not in _BUILT_IN],
        )

    def _apply(self, union: Union) -> None:
        """Probe what the sources say, and let the series of all that is gone vanish."""
        first, before = self._union is None, self._union or Union()
        self._union = union
        _tell_clashes(before.clashes, union.clashes)
        changes = self._subjects.apply((*self._built_in, *union.chosen), self._histories)
        for target in changes.ended:
            self._ledger.forget(target.name)
            self._stories.forget(target.name)
        for target in (*changes.begun, *changes.altered):
            # What was known before a restart is of use to a target's first life alone.
            self._histories.pop(target.name, None)
            if target.name != CONTROL_NAME:
                self._ledger.admit(target)
                self._stories.admit(target)
            self._tell_unshareable(target)
        if not first:
            named = {"begun": changes.begun, "ended": changes.ended, "changed": changes.altered}
            told = {kind: [target.name for target in those] for kind, those in named.items() if those}
            if told:
                _log.info("targets changed", targets=len(union.chosen), **told)

    def _tell_unshareable(self, target: Target) -> None:
        """Say which sessions will not be offered, since those of other TLS settings cannot be."""
        for name in target.share_with:
            other = self._subjects.get(name)
            if other is not None and other.target.tls != target.tls:
                why = "their TLS settings differ"
                _log.warning("sessions will not be offered", target=target.name, issuer_target=name, why=why)

    def _take(self, result: RoundResult) -> None:
        name = result.target.name
        if name in _BUILT_IN:
            self._judged[name] = result.verdicts
        if name == CONTROL_NAME:
            return
        self._ledger.fold(result)
        if (subject := self._subjects.get(name)) is not None and subject.target != result.target:
            self._ledger.admit(subject.target)  # it was altered while the round ran
        line, warning = tell_round(result, self._salt)
        self._stories.add(result, line, warning=warning)

    async def _make_round(self, target: Target) -> RoundResult:
        """Make a round on somebody's request, with a memory of its own and none of the daemon's."""
        return await self._subjects.prober.run_round(target, await self._find(target), Memory())

    def _count_missed(self, target: Target, ticks: int) -> None:
        self._ledger.missed(target.name, ticks)
        _log.warning("round overran", target=target.name, ticks_missed=ticks)

    def _count_bug(self, target: Target, error: BaseException) -> None:
        failure = Failure(Stage.PROBE, Reason.BUG, type(error).__name__)
        self._ledger.failed(target.name, failure)
        self._stories.fail(target.name, failure, time.time())
        _log.error("a round failed by a bug of ours", target=target.name, exc_info=error)

    def _shown(self) -> list[bool]:
        """Return for each target that has series of its own whether its first round has begun."""
        return [subject.begun for subject in self._subjects if subject.target.name != CONTROL_NAME]

    def _why_not_ready(self) -> str | None:
        begun = self._shown()
        return why_not_ready(
            loaded=self._union is not None,
            targets=len(begun),
            begun=sum(begun),
            waited=time.monotonic() - self._started,
        )

    def _part(self) -> Part | None:
        if self._union is None:
            return None
        return Part(self._union.total, len(self._union.chosen), self._shard.index, self._shard.count)

    def _reference_ok(self) -> bool | None:
        if len(self._judged) < len(_BUILT_IN):
            return None
        return check_truth(self._judged[TARGET_NAME], self._judged[CONTROL_NAME]).ok


def _rules(config: Config) -> Rules:
    keys = config.ticket_keys
    return Rules(hold=keys.hold, grace=keys.grace, salt=keys.salt)


def _tell_clashes(before: Sequence[Clash], now: Sequence[Clash]) -> None:
    known = frozenset(before)
    for clash in now:
        if clash not in known:
            _log.warning(
                "a target's name is taken, and it is left out", target=clash.name, source=clash.source, by=clash.holder
            )


def _tell_source_bug(source: str, error: Exception) -> None:
    _log.error("a source of targets failed by a bug of ours", source=source, exc_info=error)


def _tell_fault(part: str, error: Exception) -> None:
    _log.error("part of the exposition failed", part=part, exc_info=error)
