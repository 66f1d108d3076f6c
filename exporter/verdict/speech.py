"""Which backends speak which TLS version, and what of a round went wrong."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.observation import Handshake, Observation
from exporter.model.target import Address, TlsVersion
from exporter.verdict.hints import speaks
from exporter.verdict.history import History

Spoken = tuple[Address, TlsVersion]


@dataclass(frozen=True, slots=True)
class Speech:
    """How the backends took the versions in one round.

    Attributes:
        not_spoken: the backend is up and does not speak the version.
        failed: full handshakes were tried and none worked, with the last reason.
        denied: the version was refused by its own alert, whatever else is wrong with the backend.
    """

    not_spoken: frozenset[Spoken] = frozenset()
    failed: Mapping[Spoken, Failure] = field(default_factory=dict)
    denied: frozenset[Spoken] = frozenset()


def hear(versions: Collection[TlsVersion], observations: Sequence[Observation], history: History) -> Speech:
    """Tell a version that is not spoken, which is a fact, from a handshake that failed.

    Where no version works at all, the handshakes failed, whatever the alerts said.
    """
    answered = frozenset((seen.backend, seen.version) for seen in observations if isinstance(seen.outcome, Handshake))
    broken = _broken(observations)
    denied = frozenset(spoken for spoken, failure in broken.items() if _denies(failure)) - answered
    up = {backend for backend, _ in answered}
    # One that spoke another version before and does not deny it now is in trouble, and its trouble is told there.
    lively = up | {
        backend for backend, version in _spoken_before(versions, history) if (backend, version) not in denied
    }
    not_spoken = {spoken for spoken in denied if spoken[0] in lively} | {
        (backend, version)
        for (backend, version), failure in broken.items()
        if backend in up and (backend, version) not in answered
        if _turns_away(failure, known=_was_heard(history, backend, version))
    }
    failed = {spoken: failure for spoken, failure in broken.items() if spoken not in not_spoken}
    return Speech(frozenset(not_spoken), failed, denied)


def _broken(observations: Iterable[Observation]) -> dict[Spoken, Failure]:
    """Find where full handshakes were tried and none worked, leaving out failures that are ours."""
    whole: set[Spoken] = set()
    broken: dict[Spoken, Failure] = {}
    for seen in observations:
        if seen.offer is not None:
            continue
        if isinstance(seen.outcome, Handshake):
            whole.add((seen.backend, seen.version))
        elif not _is_ours(seen.outcome):
            broken[seen.backend, seen.version] = seen.outcome
    return {spoken: failure for spoken, failure in broken.items() if spoken not in whole}


def _is_ours(failure: Failure) -> bool:
    return failure.stage is Stage.PROBE or failure.reason is Reason.LOCAL_RESOURCES


def _denies(failure: Failure) -> bool:
    return failure.stage is Stage.HANDSHAKE and failure.reason is Reason.ALERT_PROTOCOL_VERSION


def _turns_away(failure: Failure, *, known: bool) -> bool:
    """Tell whether a backend on which another version works means by this that it does not speak this one."""
    if failure.stage is not Stage.HANDSHAKE:
        return False
    if failure.reason is Reason.ALERT_HANDSHAKE_FAILURE:
        return True
    # Some servers just hang up on a version; one that was spoken before has more likely broken.
    return failure.reason in {Reason.CLOSED, Reason.RESET} and not known


def _spoken_before(versions: Iterable[TlsVersion], history: History) -> list[Spoken]:
    return [
        (backend, version)
        for version in versions
        for backend in history.of(version).backends
        if speaks(history, backend, version)
    ]


def _was_heard(history: History, backend: Address, version: TlsVersion) -> bool:
    memory = history.of(version).backends.get(backend)
    return memory is not None and memory.spoken


def failures_of(observations: Iterable[Observation], speech: Speech) -> tuple[tuple[Address | None, Failure], ...]:
    """List all that went wrong, in the order of the dials: handshakes, verification and requests.

    A version that is not spoken is not among them.
    """
    failures: list[tuple[Address | None, Failure]] = []
    for seen in observations:
        if isinstance(seen.outcome, Handshake):
            failures += [(seen.backend, failure) for failure in _within(seen.outcome)]
        elif (seen.backend, seen.version) not in speech.not_spoken:
            failures.append((seen.backend, seen.outcome))
    return tuple(failures)


def _within(handshake: Handshake) -> Iterator[Failure]:
    """Yield what went wrong on a connection whose handshake went well."""
    if handshake.verify_failure is not None:
        yield handshake.verify_failure
    if isinstance(handshake.http, Failure):
        yield handshake.http
    elif handshake.http is not None and handshake.http.unexpected is not None:
        yield handshake.http.unexpected
    if handshake.reuse is not None and handshake.reuse.failure is not None:
        yield handshake.reuse.failure
