"""One round of a target, judged: what its backends do, how they stand to each other, and what went wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from exporter.model.failure import Failure
from exporter.model.observation import Observation
from exporter.model.target import Address, Target, TlsVersion
from exporter.model.verdicts import VersionVerdict
from exporter.verdict.differences import part_versions
from exporter.verdict.hints import speaks
from exporter.verdict.history import History, VersionHistory
from exporter.verdict.rules import Rules
from exporter.verdict.scene import VersionRound
from exporter.verdict.speech import Speech, failures_of, hear
from exporter.verdict.version import judge_version

_RULES = Rules()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was concluded from a round.

    Attributes:
        supported: whether a backend speaks a version; absent where it is not known.
        failures: all that went wrong, in the order of the dials.
        history: what the next round's judgement is to be given.
    """

    verdicts: Mapping[TlsVersion, VersionVerdict]
    supported: Mapping[tuple[Address, TlsVersion], bool]
    failures: tuple[tuple[Address | None, Failure], ...]
    history: History


def judge(
    target: Target,
    backends: tuple[Address, ...],
    observations: Sequence[Observation],
    history: History,
    *,
    now: float,
    rules: Rules = _RULES,
) -> Judgement:
    """Judge one round.

    Args:
        target: what was probed.
        backends: all that the name stood for in this round, those that were not probed too.
        observations: in the order of their dials.
        history: from the judgement of the round before, EMPTY at first.
        now: Unix time in seconds at which the round began.
        rules: how patient the judgement is.
    """
    number = history.round + 1
    if target.probe.sample:
        # A sampled backend's turn comes only so often.
        turns = max(1, ceil(len(backends) / target.probe.sample))
        rules = replace(rules, hold=rules.hold * turns)
    here = frozenset(backends)
    present = tuple(sorted(here))
    speech = hear(target.versions, observations, history)
    verdicts: dict[TlsVersion, VersionVerdict] = {}
    remembered: dict[TlsVersion, VersionHistory] = {}
    for version in target.versions:
        seen = tuple(one for one in observations if one.version is version and one.backend in here)
        this = VersionRound(version, present, seen, speech, number, now, rules)
        verdicts[version], remembered[version] = judge_version(this, history.of(version))
    after = History(number, remembered)
    supported = _supported(after, present, speech)
    heard = _heard(after, present, hold=rules.hold)
    for version, verdict in verdicts.items():
        parties = part_versions(version, supported, heard)
        verdicts[version] = replace(verdict, parties={**verdict.parties, **parties})
    return Judgement(verdicts, supported, failures_of(observations, speech), after)


def _heard(history: History, present: Sequence[Address], *, hold: int) -> tuple[Address, ...]:
    """List the backends that completed a full handshake lately, of whichever version."""
    lately = {
        backend
        for version in history.versions.values()
        for backend, memory in version.backends.items()
        if memory.looks is not None and history.round - memory.looks.round <= hold
    }
    return tuple(backend for backend in present if backend in lately)


def _supported(history: History, backends: Sequence[Address], speech: Speech) -> dict[tuple[Address, TlsVersion], bool]:
    supported: dict[tuple[Address, TlsVersion], bool] = {}
    for version in history.versions:
        for backend in backends:
            # The alert denies the version also where it is no excuse for the failed handshake.
            spoke = False if (backend, version) in speech.denied else speaks(history, backend, version)
            if spoke is not None:
                supported[backend, version] = spoke
    return supported
