"""One TLS version's part of a round, judged."""

from collections.abc import Mapping
from dataclasses import replace

from exporter.model.observation import Origin
from exporter.model.target import Address
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Cause,
    Mechanism,
    OfferOutcome,
    VersionVerdict,
)
from exporter.verdict.backends import GOOD, Evidence, Finding, find, gather
from exporter.verdict.census import count, keys_of
from exporter.verdict.changes import Book, find_changes
from exporter.verdict.crossings import crossed, newly_parted, stand
from exporter.verdict.dangers import dangers_of
from exporter.verdict.differences import part, watch
from exporter.verdict.fates import see_departed, tell_fates
from exporter.verdict.history import BackendMemory, Pair, Standing, VersionHistory
from exporter.verdict.keyline import follow, settle
from exporter.verdict.keys import keep_known
from exporter.verdict.mismatches import find_mismatch, hear_replies
from exporter.verdict.ratios import ratios_of
from exporter.verdict.rotation import conclude, turn
from exporter.verdict.scene import Scene, VersionRound, look
from exporter.verdict.sharing import Circumstances, Comparison, compare

_KEYLESS = frozenset({BackendState.FAILED, BackendState.NOT_SPOKEN, BackendState.NO_TICKETS})
"""States in which a key that is remembered is not one that is in use."""
_AT_HOME = frozenset({Origin.SELF, Origin.AGED})
_TORN_ROUNDS = 8  # for which a refusal by key makes keys that come back a contradiction


def judge_version(this: VersionRound, history: VersionHistory) -> tuple[VersionVerdict, VersionHistory]:
    """Judge one TLS version's part of a round, and tell what is to be remembered of it."""
    scene, memories = look(this, history)
    memories = {backend: _follow(scene, backend, memory) for backend, memory in memories.items()}
    evidence = {backend: _gather(scene, backend, memory) for backend, memory in memories.items()}
    findings = {backend: _find(this, backend, evidence[backend], memory) for backend, memory in memories.items()}
    states = {backend: finding.state for backend, finding in findings.items()}
    mixed = frozenset(backend for backend, state in states.items() if state is BackendState.MIXED)
    changes = find_changes(history.backends, memories, history.book, scene.issued, mixed, this)
    fates = tell_fates(scene, changes, mixed)
    gone, departed = see_departed(scene, states)
    standing = _stand(scene, evidence)
    unread = {backend for backend in scene.keys.unread if memories[backend].line.name is not None}
    recent = {b for b, memory in memories.items() if memory.newcomer and this.number - memory.born <= this.rules.hold}
    parted = newly_parted(history.standing, standing, scene.keys, recent)
    rotation = turn(history.rotation, changes.turning | fates.turning | unread | parted, this.now)
    comparison = compare(
        states,
        _names(scene, memories),
        crossed(standing),
        numbers=history.numbers,
        last={backend: memory.group for backend, memory in memories.items() if memory.group is not None},
        circumstances=Circumstances(
            _absent(this, memories, states), excused=rotation.excuses(this.now, this.rules.grace)
        ),
    )
    remembered = {
        backend: _remember(memory, findings[backend], evidence[backend], comparison.grouping.of.get(backend), this)
        for backend, memory in fates.memories.items()
    }
    verdict = _verdict(scene, findings, comparison, remembered, changes.book)
    after = VersionHistory(
        remembered,
        standing,
        comparison.grouping.numbers,
        known=keep_known(history.known, scene.keys),
        book=changes.book,
        gone=gone,
        rotation=conclude(rotation, comparison.state, this.backends, now=this.now, grace=this.rules.grace),
    )
    return replace(verdict, events=(*changes.events, *fates.breaks, *departed)), after


def _follow(scene: Scene, backend: Address, memory: BackendMemory) -> BackendMemory:
    """Follow a backend's key, and note which of its tickets it turned down, and why."""
    issued, offers = scene.issued[backend], scene.taken[backend]
    causes = {one.crossing.cause for one in offers if one.offer.origin in _AT_HOME}
    torn = scene.this.number if Cause.KEY in causes else memory.torn
    spending = memory.spending or Cause.SINGLE_USE in causes
    accepted = [
        one.crossing.offered_key
        for one in offers
        if one.crossing.outcome is OfferOutcome.ACCEPTED and one.crossing.offered_key is not None
    ]
    return replace(
        memory,
        line=follow(memory.line, issued, accepted, scene.this.number),
        torn=torn,
        spending=spending,
        looks=watch(memory.looks, scene.seen[backend], scene.this.number),
        replies=hear_replies(memory.replies, scene.seen[backend]),
    )


def _names(scene: Scene, memories: Mapping[Address, BackendMemory]) -> dict[Address, bytes]:
    """Name each backend's key; where several take turns, by the same one of them each time."""
    return {
        backend: min(run.name for run in line.runs) if (line := memories[backend].line).several else name
        for backend, name in scene.keys.current.items()
    }


def _absent(
    this: VersionRound, memories: Mapping[Address, BackendMemory], states: Mapping[Address, BackendState]
) -> frozenset[Address]:
    """Find the backends that failed in this round and resumed of late."""
    return frozenset(
        backend
        for backend, memory in memories.items()
        if states[backend] is BackendState.FAILED
        and memory.state in GOOD
        and this.number - memory.proven <= this.rules.hold
    )


def _gather(scene: Scene, backend: Address, memory: BackendMemory) -> Evidence:
    number = scene.this.number
    lately = memory.torn is not None and number - memory.torn < _TORN_ROUNDS
    returned = lately and number in memory.line.returns
    return gather(scene.seen[backend], scene.taken[backend], memory.suspicion, returned=returned)


def _stand(scene: Scene, evidence: Mapping[Address, Evidence]) -> dict[Pair, Standing]:
    """Tell how the pairs of present backends stand.

    A refusal from or to a backend that refuses even its own fresh tickets says nothing about the pair.
    """
    steady = {backend for backend, shown in evidence.items() if not shown.refused}
    telling = [
        one
        for one in scene.offers
        if one.crossing.issuer in evidence
        and (not one.telling or (one.crossing.issuer in steady and one.crossing.acceptor in steady))
    ]
    before = {pair: old for pair, old in scene.history.standing.items() if evidence.keys() >= set(pair)}
    return stand(telling, before, scene.keys, now=scene.this.number, hold=scene.this.rules.hold)


def _find(this: VersionRound, backend: Address, evidence: Evidence, memory: BackendMemory) -> Finding:
    spoken = (backend, this.version)
    if spoken in this.speech.not_spoken:
        return Finding(BackendState.NOT_SPOKEN, proven=True)
    if spoken in this.speech.failed:
        return Finding(
            BackendState.FAILED,
            proven=False,
            doubts=memory.doubts,
            contradictions=memory.contradictions,
            clean=memory.clean,
        )
    return find(evidence, memory, now=this.number, hold=this.rules.hold)


def _remember(
    memory: BackendMemory, finding: Finding, evidence: Evidence, group: int | None, this: VersionRound
) -> BackendMemory:
    mended = memory.state is BackendState.MIXED and finding.proven and finding.state is not BackendState.MIXED
    return replace(
        memory,
        state=finding.state if finding.proven else memory.state,
        proven=this.number if finding.proven else memory.proven,
        doubts=finding.doubts,
        contradictions=finding.contradictions,
        clean=finding.clean,
        line=settle(memory.line) if mended else memory.line,
        suspicion=evidence.suspicion,
        group=memory.group if group is None else group,
    )


def _verdict(
    scene: Scene,
    findings: Mapping[Address, Finding],
    comparison: Comparison,
    memories: Mapping[Address, BackendMemory],
    book: Book,
) -> VersionVerdict:
    backends = {
        backend: _backend_verdict(scene, backend, finding, comparison, memories[backend], book)
        for backend, finding in findings.items()
    }
    return VersionVerdict(
        state=comparison.state,
        backends=backends,
        crossings=tuple(one.crossing for one in scene.offers),
        judged=comparison.judged,
        groups=_groups(comparison, backends),
        odd=comparison.odd,
        ratios=ratios_of(scene.this.observations),
        parties=part(
            {backend: memory.looks for backend, memory in memories.items()},
            now=scene.this.number,
            hold=scene.this.rules.hold,
        ),
        mismatches=tuple(
            mismatch
            for backend, memory in memories.items()
            if (mismatch := find_mismatch(backend, memory.replies, scene.seen[backend])) is not None
        ),
    )


def _groups(comparison: Comparison, backends: Mapping[Address, BackendVerdict]) -> int | None:
    """Count the keys in use; those behind one address by its census, where there is only that one."""
    if comparison.grouping.count is not None or len(backends) != 1:
        return comparison.grouping.count
    (only,) = backends.values()
    return keys_of(only.census) if only.state is BackendState.MIXED else None


def _backend_verdict(
    scene: Scene,
    backend: Address,
    finding: Finding,
    comparison: Comparison,
    memory: BackendMemory,
    book: Book,
) -> BackendVerdict:
    keyless = finding.state in _KEYLESS
    without = finding.state is BackendState.NO_TICKETS
    name = None if keyless else scene.keys.current.get(backend)
    page = () if name is None else book.get(backend, ())
    return BackendVerdict(
        state=finding.state,
        mechanism=Mechanism.NO_TICKETS if without else scene.keys.mechanisms[backend],
        key_name=name,
        key_group=comparison.grouping.of.get(backend),
        key_since=next((sight.first_seen for sight in page if sight.current), None),
        keys_seen=memory.keys_seen,
        weakness=memory.signs.weakness,
        dangers=dangers_of(memory.signs, finding.state),
        survival=memory.survival,
        census=count(memory.samples),
        failure=scene.this.speech.failed.get((backend, scene.this.version)),
    )
