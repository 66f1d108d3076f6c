"""Whether a server keeps connections for further requests."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from exporter.model.connections import End, HttpAnswer, Reuse
from exporter.model.failure import Failure, Stage
from exporter.model.observation import Handshake, Observation
from exporter.model.target import Address

_SHOWN = 4


class ConnectionState(StrEnum):
    """What becomes of connections on which further requests are made."""

    KEPT_ALIVE = "kept_alive"
    CLOSES_EACH_TIME = "closes_each_time"
    """After its first answer, announced or not."""
    LIMITED = "limited"
    """After some more of them."""
    BREAKS = "breaks"
    """A further request was made and did not get a whole answer."""
    NOT_ASKED = "not_asked"
    """No further request was to be made."""
    UNKNOWN = "unknown"
    """No connection came so far that a further request could be made."""


_WORST_FIRST = (
    ConnectionState.BREAKS,
    ConnectionState.CLOSES_EACH_TIME,
    ConnectionState.LIMITED,
    ConnectionState.KEPT_ALIVE,
)
_BROKEN = frozenset({End.IN_FLIGHT, End.ERROR})


@dataclass(frozen=True, slots=True)
class ConnectionVerdict:
    """How one backend, or several that are alike, treat connections.

    Attributes:
        state: the worst that a connection showed.
        end: how most of the connections in that state ended.
        connections: that carried an answer and were to carry more requests.
        alike: how many of them were in that state.
        fewest, most: requests that those carried, the first one too.
        wanted, answered: further requests on all of them.
        announced: seconds for which the server says that it keeps an idle connection.
    """

    state: ConnectionState
    end: End | None = None
    connections: int = 0
    alike: int = 0
    fewest: int = 0
    most: int = 0
    wanted: int = 0
    answered: int = 0
    announced: int | None = None


def verdict_on(observations: Iterable[Observation]) -> ConnectionVerdict:
    """Judge what one backend's connections showed, of one round or of several, and of all TLS versions."""
    shaken = [seen.outcome for seen in observations if isinstance(seen.outcome, Handshake)]
    reuses = [one.reuse for one in shaken if one.reuse is not None and _tells(one.reuse)]
    if reuses:
        return _judge(reuses, _announced(shaken))
    failed = any(isinstance(one.http, Failure) or (one.reuse is not None and one.reuse.attempts) for one in shaken)
    return ConnectionVerdict(ConnectionState.NOT_ASKED if shaken and not failed else ConnectionState.UNKNOWN)


def _tells(reuse: Reuse) -> bool:
    """Tell whether anything was asked of the server; what failed by our own doing says nothing about it."""
    return reuse.attempts > 0 and (reuse.failure is None or reuse.failure.stage is not Stage.PROBE)


def _judge(reuses: Sequence[Reuse], announced: int | None) -> ConnectionVerdict:
    states = [_state(reuse) for reuse in reuses]
    worst = next(state for state in _WORST_FIRST if state in states)
    alike = [reuse for reuse, state in zip(reuses, states, strict=True) if state is worst]
    carried = [1 + len(reuse.answers) for reuse in alike]
    return ConnectionVerdict(
        state=worst,
        end=Counter(reuse.end for reuse in alike).most_common(1)[0][0],
        connections=len(reuses),
        alike=len(alike),
        fewest=min(carried),
        most=max(carried),
        wanted=sum(reuse.attempts for reuse in reuses),
        answered=sum(len(reuse.answers) for reuse in reuses),
        announced=announced,
    )


def _state(reuse: Reuse) -> ConnectionState:
    # A reset without a failure is a close that our next request ran into, not one that cut an answer off. A GOAWAY with
    # an error code is no farewell (RFC 9113 section 7): the connection is given up for a fault.
    if reuse.failure is not None or reuse.end in _BROKEN or (reuse.end is End.GOAWAY and reuse.goaway):
        return ConnectionState.BREAKS
    if reuse.end is End.OWN_LIMIT:
        return ConnectionState.KEPT_ALIVE
    return ConnectionState.LIMITED if reuse.answers else ConnectionState.CLOSES_EACH_TIME


def _announced(shaken: Iterable[Handshake]) -> int | None:
    said = [one.http.announced.timeout for one in shaken if isinstance(one.http, HttpAnswer)]
    return next((timeout for timeout in reversed(said) if timeout is not None), None)


def verdicts_on(
    backends: Iterable[Address], observations: Iterable[Observation]
) -> Mapping[Address, ConnectionVerdict]:
    """Judge each of a target's backends."""
    seen: defaultdict[Address, list[Observation]] = defaultdict(list)
    for one in observations:
        seen[one.backend].append(one)
    return {backend: verdict_on(seen.get(backend, ())) for backend in backends}


def tell(verdicts: Mapping[Address, ConnectionVerdict]) -> tuple[str, ...]:
    """Say in sentences how a target's backends treat connections, those that are alike in one, the worst first."""
    groups: defaultdict[tuple[ConnectionState, End | None], dict[Address, ConnectionVerdict]] = defaultdict(dict)
    for backend, verdict in verdicts.items():
        groups[verdict.state, verdict.end][backend] = verdict
    order = (*_WORST_FIRST, ConnectionState.UNKNOWN, ConnectionState.NOT_ASKED)
    ranked = sorted(groups.values(), key=lambda group: order.index(next(iter(group.values())).state))
    return tuple(f"{_who(tuple(group), len(verdicts))} {describe(_sum(tuple(group.values())))}" for group in ranked)


def _who(backends: Sequence[Address], total: int) -> str:
    if len(backends) == total:
        return "the server" if total == 1 else f"each of the {total} backends"
    if len(backends) == 1:
        return str(backends[0])
    more = f" and {len(backends) - _SHOWN} more" if len(backends) > _SHOWN else ""
    return f"each of {', '.join(map(str, backends[:_SHOWN]))}{more}"


def _sum(verdicts: Sequence[ConnectionVerdict]) -> ConnectionVerdict:
    """Add up verdicts of the same state and end."""
    said = {verdict.announced for verdict in verdicts}
    return ConnectionVerdict(
        verdicts[0].state,
        verdicts[0].end,
        connections=sum(verdict.connections for verdict in verdicts),
        alike=sum(verdict.alike for verdict in verdicts),
        fewest=min(verdict.fewest for verdict in verdicts),
        most=max(verdict.most for verdict in verdicts),
        wanted=sum(verdict.wanted for verdict in verdicts),
        answered=sum(verdict.answered for verdict in verdicts),
        announced=said.pop() if len(said) == 1 else None,
    )


def describe(verdict: ConnectionVerdict) -> str:
    """Say what a verdict means, to follow the name of the server."""
    some = verdict.alike < verdict.connections
    share = f", seen on {verdict.alike} of {verdict.connections} connections" if some else ""
    return _DESCRIBING[verdict.state](verdict) + share


def _describe_kept(verdict: ConnectionVerdict) -> str:
    on = "one connection" if verdict.connections == 1 else f"{verdict.connections} connections"
    said = "" if verdict.announced is None else f"; it says that it keeps an idle one for {verdict.announced} s"
    return (
        f"keeps connections alive: {verdict.answered} of {verdict.wanted} further requests were answered on {on}{said}"
    )


_UNTOLD = ", without having said so"
_CLOSINGS: Mapping[End | None, str] = MappingProxyType(
    {
        End.CONNECTION_CLOSE: "",
        End.HTTP_1_0: ", since it answers in HTTP/1.0",
        End.CLOSED: _UNTOLD,
        End.RESET: _UNTOLD,
        End.IDLE_TIMEOUT: _UNTOLD,
        End.GOAWAY: ", with a GOAWAY",
    }
)


def _describe_closing(verdict: ConnectionVerdict) -> str:
    return f"closes after each response{_CLOSINGS.get(verdict.end, '')}: every request pays a handshake"


def _describe_limit(verdict: ConnectionVerdict) -> str:
    number = str(verdict.most) if verdict.fewest == verdict.most else f"{verdict.fewest} to {verdict.most}"
    return f"closes after {number} requests{_CLOSINGS.get(verdict.end, '')}"


_BREAKAGES: Mapping[End | None, str] = MappingProxyType(
    {
        End.IN_FLIGHT: "closes connections while a request is on its way, for which a proxy's client gets a 502",
        End.RESET: "resets connections on which a further request is made",
        End.GOAWAY: "gives up connections for a fault, by its GOAWAY",
        End.ERROR: "gives no whole answer to a further request on a connection, or says more than it was asked",
    }
)

_DESCRIBING: Mapping[ConnectionState, Callable[[ConnectionVerdict], str]] = MappingProxyType(
    {
        ConnectionState.KEPT_ALIVE: _describe_kept,
        ConnectionState.CLOSES_EACH_TIME: _describe_closing,
        ConnectionState.LIMITED: _describe_limit,
        ConnectionState.BREAKS: lambda verdict: _BREAKAGES.get(verdict.end, _BREAKAGES[End.ERROR]),
        ConnectionState.NOT_ASKED: lambda _: "was not asked for more than one request on a connection",
        ConnectionState.UNKNOWN: lambda _: "has not shown what it does with further requests",
    }
)
