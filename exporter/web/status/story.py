"""From a round's result to what is kept of its target: pure functions, each of which returns a new story."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median

from exporter.model.failure import Failure
from exporter.model.fingerprint import fingerprint
from exporter.model.observation import Handshake, Mode, Origin
from exporter.model.source import BackendFacts as Place
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import (
    BackendState,
    BackendVerdict,
    Danger,
    KeyEventKind,
    OfferOutcome,
    RoundResult,
    TargetState,
    VersionVerdict,
)
from exporter.verdict.findings import dangers_of, differences_of, events_of
from exporter.verdict.offers import outcome_of
from exporter.verdict.sentence import Explanation, explain
from exporter.web.status.connections import remarks_on
from exporter.web.status.facts import (
    UNWELCOME,
    BackendFacts,
    Cell,
    Event,
    HandshakeFacts,
    Pair,
    Point,
    Remark,
    RoundPoint,
    Span,
    StateSpan,
    Story,
    Tone,
    Trouble,
    VersionFacts,
)
from exporter.web.status.handshakes import newest_handshakes

_FRESH_ROUNDS = 5
"""An offer older than that is no proof of how things are now."""
_LONGEST_NAME = 253
"""No name of a pod, a node or a zone is longer (RFC 1123)."""
_HOME_OR_RING = frozenset({Origin.SELF, Origin.PEER})


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept of one target.

    Attributes:
        lanes: backends with a lane, a row of the matrix and facts of their own; the odd ones come first.
        spans: of each lane.
        words: characters of a text that a server had a part in.
    """

    rounds: int = 120
    troubles: int = 40
    events: int = 40
    log: int = 12
    lanes: int = 48
    spans: int = 24
    words: int = 600


def continue_story(story: Story, result: RoundResult, salt: bytes, bounds: Bounds) -> Story:
    """Return what is to be told of a target after one more round; `salt` goes into the numbers that stand for keys."""
    number = story.rounds[-1].number + 1 if story.rounds else 0
    handshakes = newest_handshakes(story, result)
    missing = next((failure for backend, failure in result.failures if backend is None), None)
    told = {
        version: explain(version, verdict, result.target.expect.resumption, missing=missing)
        for version, verdict in result.verdicts.items()
    }
    versions = {
        version: _continue_version(
            story.versions.get(version), version, result, explanation, handshakes, number, salt, bounds
        )
        for version, explanation in told.items()
    }
    remarks, connections = _remarks(result), tuple(remarks_on(result))
    tone = _tone(result, versions, (*remarks, *connections))
    places = _places(result, bounds.lanes)
    point = RoundPoint(number, result.started, result.elapsed, tone, tuple(_points(result, told)))
    rounds = (*story.rounds, point)[-bounds.rounds :]
    return replace(
        story,
        target=result.target,
        tone=tone,
        backends=result.backends,
        places=places,
        unplaced=len(result.facts) - len(places),
        left_out=result.left_out,
        versions={version: _forget_unseen(facts, rounds[0].started) for version, facts in versions.items()},
        remarks=_cut(remarks, bounds),
        connections=_cut(connections, bounds),
        rounds=rounds,
        events=(*story.events, *_events(story, result, told, salt))[-bounds.events :],
        troubles=_add_troubles(story.troubles, result, bounds),
    )


def _places(result: RoundResult, most: int) -> dict[Address, Place]:
    """Return what is kept of a round's facts: of too many, those that are not ready come first, in order."""
    ranked = sorted(result.facts, key=lambda one: (result.facts[one].ready, one not in result.backends))
    return {backend: _shorten(result.facts[backend]) for backend in ranked[:most]}


def _shorten(place: Place) -> Place:
    names = {name: getattr(place, name) for name in ("pod", "node", "zone")}
    if all(len(text) <= _LONGEST_NAME for text in names.values()):
        return place  # the very same: a thousand targets should not hold copies
    return replace(place, **{name: text[:_LONGEST_NAME] for name, text in names.items()})


def _tone(result: RoundResult, versions: Mapping[TlsVersion, VersionFacts], remarks: Iterable[Remark]) -> Tone:
    if not any(isinstance(seen.outcome, Handshake) for seen in result.observations):
        return Tone.DOWN
    weak = any(set(found.dangers) - {Danger.EARLY_DATA} for found in _backend_verdicts(result))
    if result.failures or weak or not all(facts.healthy for facts in versions.values()):
        return Tone.FINDING
    if not all(remark.well for remark in remarks):
        return Tone.FINDING
    rotating = any(facts.state is TargetState.ROTATING for facts in versions.values())
    news = any(verdict.events for verdict in result.verdicts.values())
    return Tone.NOTICE if rotating or news else Tone.WELL


def _backend_verdicts(result: RoundResult) -> Iterator[BackendVerdict]:
    return (found for verdict in result.verdicts.values() for found in verdict.backends.values())


def _remarks(result: RoundResult) -> tuple[Remark, ...]:
    """Tell of danger, and of what differs between backends; 0-RTT may be meant, so it is only mentioned."""
    told: dict[str, Remark] = {}
    for verdict in result.verdicts.values():
        meant = {
            backend
            for backend, found in verdict.backends.items()
            if found.weakness is None and set(found.dangers) <= {Danger.EARLY_DATA}
        }
        told |= {str(danger): Remark(str(danger), danger.backend in meant) for danger in dangers_of(verdict)}
        told |= {str(found): Remark(str(found), well=False) for found in differences_of(verdict)}
    return tuple(told.values())


def _points(result: RoundResult, told: Mapping[TlsVersion, Explanation]) -> Iterator[Point]:
    for version in result.target.versions:
        seen = [one for one in result.observations if one.version is version]
        shaken = [one.outcome for one in seen if isinstance(one.outcome, Handshake)]
        offers = [outcome_of(one) for one in seen if one.offer is not None and one.offer.origin in _HOME_OR_RING]
        made = sum(outcome is not OfferOutcome.NOT_OFFERED for outcome in offers)
        yield Point(
            tls=version,
            full=_duration(shaken, Mode.FULL),
            resumed=_duration(shaken, Mode.RESUMED),
            server=_median(
                one.timing.server for one in shaken if one.mode is Mode.FULL and not one.timing.server_disturbed
            ),
            offers=made,
            hits=offers.count(OfferOutcome.ACCEPTED),
            meant=version in told and _wants_refusals(result.verdicts[version], told[version]),
        )


def _wants_refusals(verdict: VersionVerdict, told: Explanation) -> bool:
    """Tell whether refusals are of the state that is meant, and no sign that it is about to end."""
    apart = verdict.state is TargetState.STATEFUL and verdict.judged > 1
    return told.healthy and (apart or verdict.state in UNWELCOME)


def _duration(shaken: Iterable[Handshake], mode: Mode) -> float | None:
    return _median(one.timing.duration for one in shaken if one.mode is mode and not one.timing.disturbed)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _continue_version(  # noqa: PLR0913, PLR0917 -- all of it is one round's
    before: VersionFacts | None,
    version: TlsVersion,
    result: RoundResult,
    told: Explanation,
    handshakes: Mapping[tuple[Address, TlsVersion], HandshakeFacts],
    number: int,
    salt: bytes,
    bounds: Bounds,
) -> VersionFacts:
    verdict = result.verdicts[version]
    shown = _shown(verdict, bounds.lanes)
    facts = VersionFacts(
        state=verdict.state,
        healthy=told.healthy,
        meant=_wants_refusals(verdict, told),
        text=told.text,
        advice=told.advice,
        groups=verdict.groups,
        odd=verdict.odd,
        backends={
            backend: _backend_facts(verdict.backends[backend], handshakes.get((backend, version)), salt)
            for backend in shown
        },
    )
    spans = (*(before.states if before else ()), StateSpan(result.started, verdict.state, told.healthy))
    changed = spans if len(spans) < 2 or spans[-2].state is not spans[-1].state else spans[:-1]
    return replace(
        facts,
        states=changed[-bounds.spans :],
        lanes=_continue_lanes(before.lanes if before else {}, facts, result, bounds),
        cells=_continue_cells(before.cells if before else {}, verdict, facts, number),
    )


def _shown(verdict: VersionVerdict, most: int) -> tuple[Address, ...]:
    """Return the backends that are told one by one, in order; of too many, those that stand out come first."""
    everybody = tuple(verdict.backends)
    if len(everybody) <= most:
        return everybody
    usual = {BackendState.RESUMES, BackendState.STATEFUL}
    ranked = sorted(
        everybody, key=lambda one: (one not in verdict.odd, verdict.backends[one].state in usual, everybody.index(one))
    )
    chosen = set(ranked[:most])
    return tuple(backend for backend in everybody if backend in chosen)


def _backend_facts(found: BackendVerdict, handshake: HandshakeFacts | None, salt: bytes) -> BackendFacts:
    return BackendFacts(
        state=found.state,
        mechanism=found.mechanism,
        group=found.key_group,
        key=None if found.key_name is None else fingerprint(found.key_name, salt),
        key_since=found.key_since,
        keys_seen=found.keys_seen,
        oldest_accepted=found.survival.oldest_accepted,
        youngest_refused=found.survival.youngest_refused,
        failure=found.failure,
        handshake=handshake,
    )


def _continue_lanes(
    lanes: Mapping[Address, tuple[Span, ...]], facts: VersionFacts, result: RoundResult, bounds: Bounds
) -> dict[Address, tuple[Span, ...]]:
    now = result.started
    continued = {
        backend: _lengthen(lanes.get(backend, ()), Span(now, found.group, found.state))[-bounds.spans :]
        for backend, found in facts.backends.items()
    }
    gone = [backend for backend in lanes if backend not in result.backends]
    for backend in gone[: max(0, bounds.lanes - len(continued))]:
        continued[backend] = _lengthen(lanes[backend], Span(now, None, None))[-bounds.spans :]
    return continued


def _lengthen(spans: tuple[Span, ...], span: Span) -> tuple[Span, ...]:
    alike = spans and (spans[-1].group, spans[-1].state) == (span.group, span.state)
    return spans if alike else (*spans, span)


def _forget_unseen(facts: VersionFacts, begin: float) -> VersionFacts:
    """Drop the lanes of backends that had left before the first round that is still in view."""
    lanes = {
        backend: spans
        for backend, spans in facts.lanes.items()
        if spans[-1].state is not None or spans[-1].since >= begin
    }
    return facts if len(lanes) == len(facts.lanes) else replace(facts, lanes=lanes)


def _continue_cells(
    cells: Mapping[Pair, Cell], verdict: VersionVerdict, facts: VersionFacts, number: int
) -> dict[Pair, Cell]:
    """Take over recent offers, and put this round's in; a change of key at either end makes older ones void."""
    changed = {event.backend for event in verdict.events if event.kind is KeyEventKind.CHANGE}
    kept = {
        pair: cell
        for pair, cell in cells.items()
        if number - cell.number < _FRESH_ROUNDS and changed.isdisjoint(pair) and facts.backends.keys() >= set(pair)
    }
    for crossing in verdict.crossings:
        pair = (crossing.issuer, crossing.acceptor)
        if facts.backends.keys() >= set(pair):
            kept[pair] = Cell(crossing.outcome, number, crossing.cause)
    return kept


def _events(story: Story, result: RoundResult, told: Mapping[TlsVersion, Explanation], salt: bytes) -> Iterator[Event]:
    """Yield what happened: changes of state, of keys, and of who is there."""
    at = result.started
    if story.rounds:
        yield from (Event(at, f"{each} is there", bad=False) for each in result.backends if each not in story.backends)
        yield from (Event(at, f"{each} is gone", bad=False) for each in story.backends if each not in result.backends)
    for version, verdict in result.verdicts.items():
        broken = {event.backend for event in verdict.events if event.kind is KeyEventKind.BREAK}
        for event in events_of(verdict, salt):
            yield Event(at, f"TLS {version}: {event}", event.backend in broken)
        earlier = story.versions.get(version)
        if earlier is None or (earlier.state, earlier.odd) != (verdict.state, verdict.odd):
            yield Event(at, f"TLS {version}: {_turn(earlier, verdict)}", bad=not told[version].healthy)


def _turn(earlier: VersionFacts | None, verdict: VersionVerdict) -> str:
    words = verdict.state.replace("_", " ")
    odd = f", against the others: {_names(verdict.odd)}" if verdict.odd else ""
    if earlier is None:
        return f"{words}{odd}, as first seen"
    was = earlier.state.replace("_", " ")
    return f"still {words}{odd}" if was == words else f"{words}, was {was}{odd}"


def _names(backends: tuple[Address, ...]) -> str:
    more = f" and {len(backends) - 4} more" if len(backends) > 4 else ""
    return ", ".join(map(str, backends[:4])) + more


def _add_troubles(troubles: tuple[Trouble, ...], result: RoundResult, bounds: Bounds) -> tuple[Trouble, ...]:
    """Count a failure with those like it, and move it to the end."""
    known = {(trouble.backend, trouble.failure): trouble for trouble in troubles}
    for backend, failure in result.failures:
        short = replace(failure, detail=failure.detail[: bounds.words])
        former = known.pop((backend, short), None)
        known[backend, short] = (
            Trouble(backend, short, result.started, result.started)
            if former is None
            else replace(former, last=result.started, count=former.count + 1)
        )
    return tuple(known.values())[-bounds.troubles :]


def _cut(remarks: Iterable[Remark], bounds: Bounds) -> tuple[Remark, ...]:
    return tuple(Remark(remark.text[: bounds.words], remark.well) for remark in remarks)[: bounds.troubles]


def failure_of(story: Story, failure: Failure, at: float, bounds: Bounds) -> Story:
    """Return the story with a failure that is in no result, as of a round that came to none."""
    told = Trouble(None, failure, at, at)
    return replace(story, tone=min(story.tone, Tone.FINDING), troubles=(*story.troubles, told)[-bounds.troubles :])
