"""One TLS version's part of a round, judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from exporter.model.observation import Observation
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import BackendState, BackendVerdict, Mechanism, VersionVerdict
from exporter.verdict.backends import Evidence, Finding, find, gather
from exporter.verdict.crossings import JudgedOffer, crossed, judge_offers, stand
from exporter.verdict.history import BackendMemory, Pair, Standing, VersionHistory
from exporter.verdict.keys import Keys, read_keys
from exporter.verdict.learning import learn
from exporter.verdict.ratios import ratios_of
from exporter.verdict.sharing import Comparison, compare
from exporter.verdict.speech import Speech

_KEYLESS = frozenset({BackendState.FAILED, BackendState.NOT_SPOKEN, BackendState.NO_TICKETS})
"""States in which a key that is remembered is not one that is in use."""


@dataclass(frozen=True, slots=True)
class VersionRound:
    """What a round brought for one TLS version.

    Attributes:
        backends: all that are present, in order.
        observations: those of this version and these backends, in the order of their dials.
        now: the round's number.
        hold: rounds for which a state holds while nothing is seen.
    """

    version: TlsVersion
    backends: tuple[Address, ...]
    observations: tuple[Observation, ...]
    speech: Speech
    now: int
    hold: int


def judge_version(this: VersionRound, history: VersionHistory) -> tuple[VersionVerdict, VersionHistory]:
    """Judge one TLS version's part of a round, and tell what is to be remembered of it."""
    seen: dict[Address, list[Observation]] = {backend: [] for backend in this.backends}
    for one in this.observations:
        seen[one.backend].append(one)
    memories = {
        backend: learn(history.backends.get(backend, BackendMemory()), seen[backend]) for backend in this.backends
    }
    keys = read_keys(
        {backend: memory.batches for backend, memory in memories.items()},
        {backend: memory.mechanism for backend, memory in memories.items()},
    )
    offers = judge_offers(this.observations, keys, history.backends)
    taken: dict[Address, list[JudgedOffer]] = {backend: [] for backend in this.backends}
    for offer in offers:
        taken[offer.crossing.acceptor].append(offer)
    evidence = {
        backend: gather(seen[backend], taken[backend], memory.suspicion) for backend, memory in memories.items()
    }
    standing = _stand(this, offers, evidence, keys, history)
    findings = {backend: _find(this, backend, evidence[backend], memory) for backend, memory in memories.items()}
    comparison = compare(
        {backend: finding.state for backend, finding in findings.items()},
        keys.current,
        crossed(standing),
        numbers=history.numbers,
        last={backend: memory.group for backend, memory in memories.items() if memory.group is not None},
    )
    remembered = {
        backend: _remember(memory, findings[backend], evidence[backend], comparison.grouping.of.get(backend), this.now)
        for backend, memory in memories.items()
    }
    verdict = _verdict(this, offers, keys, findings, comparison)
    return verdict, VersionHistory(remembered, standing, comparison.grouping.numbers)


def _stand(
    this: VersionRound,
    offers: Sequence[JudgedOffer],
    evidence: Mapping[Address, Evidence],
    keys: Keys,
    history: VersionHistory,
) -> dict[Pair, Standing]:
    """Tell how the pairs of present backends stand.

    A refusal from or to a backend that refuses even its own fresh tickets says nothing about the pair.
    """
    steady = {backend for backend, shown in evidence.items() if not shown.refused}
    telling = [
        one
        for one in offers
        if one.crossing.issuer in evidence
        and (not one.telling or (one.crossing.issuer in steady and one.crossing.acceptor in steady))
    ]
    before = {pair: old for pair, old in history.standing.items() if evidence.keys() >= set(pair)}
    return stand(telling, before, keys, now=this.now, hold=this.hold)


def _find(this: VersionRound, backend: Address, evidence: Evidence, memory: BackendMemory) -> Finding:
    spoken = (backend, this.version)
    if spoken in this.speech.not_spoken:
        return Finding(BackendState.NOT_SPOKEN, proven=True)
    if spoken in this.speech.failed:
        return Finding(BackendState.FAILED, proven=False, doubts=memory.doubts, contradictions=memory.contradictions)
    return find(evidence, memory, now=this.now, hold=this.hold)


def _remember(
    memory: BackendMemory, finding: Finding, evidence: Evidence, group: int | None, now: int
) -> BackendMemory:
    return replace(
        memory,
        state=finding.state if finding.proven else memory.state,
        proven=now if finding.proven else memory.proven,
        doubts=finding.doubts,
        contradictions=finding.contradictions,
        suspicion=evidence.suspicion,
        group=memory.group if group is None else group,
    )


def _verdict(
    this: VersionRound,
    offers: tuple[JudgedOffer, ...],
    keys: Keys,
    findings: Mapping[Address, Finding],
    comparison: Comparison,
) -> VersionVerdict:
    backends = {
        backend: BackendVerdict(
            state=finding.state,
            mechanism=Mechanism.NO_TICKETS if finding.state is BackendState.NO_TICKETS else keys.mechanisms[backend],
            key_name=keys.current.get(backend) if finding.state not in _KEYLESS else None,
            key_group=comparison.grouping.of.get(backend),
            failure=this.speech.failed.get((backend, this.version)),
        )
        for backend, finding in findings.items()
    }
    return VersionVerdict(
        state=comparison.state,
        backends=backends,
        crossings=tuple(one.crossing for one in offers),
        judged=comparison.judged,
        groups=comparison.grouping.count,
        odd=comparison.odd,
        ratios=ratios_of(this.observations),
    )
