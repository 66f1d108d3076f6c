"""Where a target's backends come from when that is not one name, and what such a place knows of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SrvName:
    """A name whose SRV records name the backends and their ports (RFC 2782).

    Attributes:
        name: in full; no search domain is tried.
    """

    name: str


@dataclass(frozen=True, slots=True)
class KubernetesService:
    """A Service whose EndpointSlices list the backends.

    Attributes:
        port: a port's name in the slices, or the number that the pods listen on.
        namespace: None is the one that we run in.
    """

    service: str
    port: str | int
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """What an orchestrator says of an address; the conditions are those of an EndpointSlice.

    Attributes:
        ready: whether it is meant to get new connections; only such backends are probed.
        serving: whether it would answer, also while it ends.
        terminating: whether it is about to go.
        pod, node, zone: names, "" where they are not known.
    """

    ready: bool = True
    serving: bool = True
    terminating: bool = False
    pod: str = ""
    node: str = ""
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a source of targets does.

    Attributes:
        targets: how many it names, None before it ever named any.
        successful: whether all of its last answer could be used.
        succeeded_at: Unix time in seconds of the last answer of which that holds, None if there was none.
        failures: looks that brought something that could not be used.
    """

    targets: int | None = None
    successful: bool = False
    succeeded_at: float | None = None
    failures: int = 0
