"""EndpointSlices as the API server writes them, and the backends that they list (discovery.k8s.io/v1): pure.

Only fields that are used are read; all others, those of later versions too, are passed over.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from exporter.discovery.literal import literal
from exporter.model.source import BackendFacts
from exporter.model.target import Address, Endpoint

_UNNAMED = ""  # a Service with one port need not name it


class Conditions(msgspec.Struct, frozen=True):
    """What is known of an endpoint's life; nothing said means ready, and serving as far as it is ready."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class Reference(msgspec.Struct, frozen=True):
    """The object behind an endpoint."""

    kind: str = ""
    name: str = ""


class Member(msgspec.Struct, frozen=True, rename="camel"):
    """One endpoint; all of its addresses lead to the same."""

    addresses: tuple[str, ...] = ()
    conditions: Conditions | None = None
    target_ref: Reference | None = None
    node_name: str | None = None
    zone: str | None = None


class Port(msgspec.Struct, frozen=True):
    """A port of all endpoints of a slice."""

    name: str | None = None
    port: int | None = None
    protocol: str | None = None


class Metadata(msgspec.Struct, frozen=True, rename={"resource_version": "resourceVersion", "next_page": "continue"}):
    """Whose state this is; of a list, how it goes on where it is only a part."""

    name: str = ""
    resource_version: str = ""
    next_page: str = ""


class Slice(msgspec.Struct, frozen=True):
    """Some of a Service's endpoints."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    endpoints: tuple[Member, ...] | None = None
    ports: tuple[Port, ...] | None = None


class Page(msgspec.Struct, frozen=True):
    """A list of slices, or a part of one."""

    metadata: Metadata
    items: tuple[Slice, ...] | None = None


@dataclass(frozen=True, slots=True)
class Backends:
    """What a Service stands for.

    Attributes:
        ready: addresses that are meant to get new connections.
        facts: of all addresses, those that are not ready too.
        ports: the names of all TCP ports, for people who took a wrong one.
    """

    ready: frozenset[Address] = frozenset()
    facts: Mapping[Address, BackendFacts] = field(default_factory=dict)
    ports: frozenset[str] = frozenset()


def list_backends(slices: Iterable[Slice], port: str | int) -> Backends:
    """Return the backends at a port, given by its name or its number.

    An endpoint may be in two slices for a moment; the one that calls it ready holds.
    """
    facts: dict[Address, BackendFacts] = {}
    names: set[str] = set()
    for each in slices:
        ports = [one for one in each.ports or () if one.protocol in {None, "TCP"}]
        names.update(one.name or _UNNAMED for one in ports)
        for number in _numbers(ports, port):
            for member in each.endpoints or ():
                told = _facts_of(member)
                for address in _addresses(member.addresses, number):
                    if address not in facts or (told.ready and not facts[address].ready):
                        facts[address] = told
    return Backends(frozenset(address for address, told in facts.items() if told.ready), facts, frozenset(names))


def _numbers(ports: Collection[Port], wanted: str | int) -> Collection[int]:
    if isinstance(wanted, int):
        return (wanted,)
    return {one.port for one in ports if one.port and (one.name or _UNNAMED) == wanted}


def _addresses(texts: Iterable[str], port: int) -> Iterable[Address]:
    """Return those that are IP addresses; a slice may hold host names, which no Service makes any more."""
    found = (literal(Endpoint(text, port)) for text in texts)
    return (address for address in found if address is not None)


def _facts_of(member: Member) -> BackendFacts:
    said = member.conditions or Conditions()
    terminating = said.terminating is True
    ready = said.ready is not False
    pod = member.target_ref
    return BackendFacts(
        # A Service may publish endpoints as ready that are not; one that ends would soon fail all the same.
        ready=ready and not terminating,
        serving=ready if said.serving is None else said.serving,
        terminating=terminating,
        pod=pod.name if pod is not None and pod.kind == "Pod" else "",
        node=member.node_name or "",
        zone=member.zone or "",
    )
