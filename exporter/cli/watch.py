"""`tlsprobe probe --watch`: a line at each change of key or verdict, with the time."""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType

from exporter.cli.rounds import rounds_of
from exporter.model.fingerprint import fingerprint
from exporter.model.target import Address, Target
from exporter.model.verdicts import BackendState, BackendVerdict, RoundResult, TargetState, VersionVerdict
from exporter.verdict.findings import dangers_at, events_of
from exporter.verdict.rules import Rules

_IS: Mapping[BackendState, str] = MappingProxyType(
    {
        BackendState.RESUMES: "resumes",
        BackendState.STATEFUL: "resumes sessions that it keeps itself",
        BackendState.REFUSES: "refuses its own tickets",
        BackendState.NO_TICKETS: "gives no tickets",
        BackendState.MIXED: "answers differently from offer to offer",
        BackendState.KILLS: "ends connections at which a ticket is offered",
        BackendState.FAILED: "has failed",
        BackendState.NOT_SPOKEN: "does not speak this version",
        BackendState.UNKNOWN: "is not judged",
    }
)
_WAS: Mapping[BackendState, str] = MappingProxyType(
    {
        BackendState.RESUMES: "had resumed",
        BackendState.STATEFUL: "had resumed sessions that it kept itself",
        BackendState.REFUSES: "had refused its own tickets",
        BackendState.NO_TICKETS: "had given no tickets",
        BackendState.MIXED: "had answered differently from offer to offer",
        BackendState.KILLS: "had ended connections at which a ticket was offered",
        BackendState.FAILED: "had failed",
        BackendState.NOT_SPOKEN: "had not spoken this version",
        BackendState.UNKNOWN: "had not been judged",
    }
)


def watch(target: Target, rules: Rules, pause: float) -> int:
    """Probe round after round and print what changes, until interrupted; return the exit code.

    Args:
        pause: seconds from the end of a round to the start of the next.
    """
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_follow(target, rules, pause))
    return 0


async def _follow(target: Target, rules: Rules, pause: float) -> None:
    before: RoundResult | None = None
    async with rounds_of(target, rules) as make_round:
        while True:
            result = await make_round()
            for line in tell_changes(before, result, rules.salt):
                print(f"{datetime.now().astimezone():%H:%M:%S}  {line}", flush=True)
            before = result
            await asyncio.sleep(pause)


def tell_changes(before: RoundResult | None, result: RoundResult, salt: bytes) -> Iterator[str]:
    """Yield a line for each thing that is not as it was in the round before; all of it in the first round."""
    known = frozenset(before.backends) if before else frozenset[Address]()
    yield from (f"{backend} is there" for backend in result.backends if backend not in known)
    yield from (f"{backend} is gone" for backend in sorted(known.difference(result.backends)))
    for where, failure in result.failures:
        if where is None and (before is None or (None, failure) not in before.failures):
            yield str(failure)
    for version, verdict in result.verdicts.items():
        earlier = before.verdicts[version] if before else None
        for line in (*_tell_backends(earlier, verdict, salt), *_tell_target(earlier, verdict)):
            yield f"TLS {version}  {line}"


def _tell_backends(earlier: VersionVerdict | None, verdict: VersionVerdict, salt: bytes) -> Iterator[str]:
    yield from map(str, events_of(verdict, salt))
    for backend, now in verdict.backends.items():
        then = earlier.backends.get(backend) if earlier else None
        if then is None or then.state is not now.state:
            yield f"{backend} {_turn(then, now)}"
        if now.key_name is not None and (then is None or then.key_name != now.key_name):
            yield f"{backend} has ticket key {fingerprint(now.key_name, salt):08x}"
        told = set() if then is None else set(dangers_at(backend, then))
        yield from (str(danger) for danger in dangers_at(backend, now) if danger not in told)


def _turn(then: BackendVerdict | None, now: BackendVerdict) -> str:
    """Say how a backend's state has changed, and why it failed where it did."""
    if now.state is BackendState.FAILED and now.failure is not None:
        return f"{_IS[now.state]}: {now.failure}"
    if then is None:
        return _IS[now.state]
    # A key that is known is one that it gave tickets of before it failed.
    back = then.state is BackendState.FAILED and now.state is BackendState.RESUMES and then.keys_seen > 0
    return f"{_IS[now.state]}{' again' if back else ''}, {_WAS[then.state]}"


def _tell_target(earlier: VersionVerdict | None, verdict: VersionVerdict) -> Iterator[str]:
    if earlier is not None and (earlier.state, earlier.odd) == (verdict.state, verdict.odd):
        return
    was = "" if earlier is None else f"{_words(earlier.state)} -> "
    odd = f", against the others: {', '.join(map(str, verdict.odd))}" if verdict.odd else ""
    yield f"{was}{_words(verdict.state)}{odd}"


def _words(state: TargetState) -> str:
    return state.replace("_", " ")
