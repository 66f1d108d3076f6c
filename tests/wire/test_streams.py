"""The byte stream cut and bent anywhere."""

import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from exporter.model.failure import STAGE_REASONS
from exporter.model.observation import TlsFacts
from exporter.model.target import TlsSettings, TlsVersion
from exporter.wire import tap
from exporter.wire.context import ClientContext, Contexts
from exporter.wire.tls import Step
from tests.servers.certificates import Leaf
from tests.wire.pair import Server, meet, server_context

_QUICK = examples(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
_FLIGHTS = 3


@dataclass(frozen=True, slots=True)
class Stand:
    """A client context and a server that it can meet again and again."""

    client: ClientContext
    server: ssl.SSLContext


@pytest.fixture(
    params=[(version, attach) for version in TlsVersion for attach in (tap.attach, tap.absent)],
    ids=lambda param: f"TLS {param[0]}, {'tap' if param[1] is tap.attach else 'no tap'}",
)
def stand(request: pytest.FixtureRequest, settings: TlsSettings, leaf: Leaf) -> Stand:
    """Each version, with its messages tapped and without."""
    version, attach = request.param
    return Stand(Contexts(attach).get(settings, version, verify=True), server_context(leaf))


@dataclass(frozen=True, slots=True)
class Cuts:
    """Slices at places that hypothesis chose, the same for every flight."""

    sizes: tuple[int, ...]

    def __call__(self, flight: bytes) -> Iterable[bytes]:
        """Yield a flight in pieces, single bytes at the end of the list included."""
        start = 0
        for size in self.sizes:
            yield flight[start : start + size]
            start += size
        yield flight[start:]


def single_bytes(flight: bytes) -> Iterator[bytes]:
    """Yield a flight byte by byte."""
    return (bytes((byte,)) for byte in flight)


def _lasting(facts: TlsFacts) -> TlsFacts:
    """Leave out what differs from one handshake to the next: tickets' secrets, and a signature's length in DER."""
    tickets = tuple(replace(ticket, identity=bytes(len(ticket.identity)), nonce=b"") for ticket in facts.tickets)
    return replace(facts, tickets=tickets, received_bytes=0)


@_QUICK
@given(sizes=st.lists(st.integers(1, 700), max_size=12))
def test_cuts_do_not_matter(stand: Stand, sizes: list[int]) -> None:
    """The handshake ends alike, with the same facts and sessions, however the network slices the server's flights."""
    straight = meet(stand.client, Server(stand.server))
    sliced = meet(stand.client, Server(stand.server), cut=Cuts(tuple(sizes)))

    assert _lasting(sliced.facts) == _lasting(straight.facts)
    assert [session.ticket in sliced.facts.tickets for session in sliced.sessions] == [True]


def test_single_bytes(stand: Stand) -> None:
    """A stream of single bytes is a stream like any other, resumption included."""
    first = meet(stand.client, Server(stand.server), cut=single_bytes)
    second = meet(stand.client, Server(stand.server), first.sessions[0], cut=single_bytes)

    assert (first.facts.resumed, second.facts.resumed) == (False, True)
    assert second.facts.offered


@dataclass(frozen=True, slots=True)
class Damage:
    """What the network does to one flight of the server's."""

    flight: int
    place: float
    remove: int
    insert: bytes
    flip: int

    def __call__(self, number: int, flight: bytes) -> bytes:
        """Return the flight, damaged if its turn has come."""
        if number != self.flight or not flight:
            return flight
        at = min(int(self.place * len(flight)), len(flight) - 1)
        bent = bytes((flight[at] ^ self.flip,)) + flight[at + 1 :]
        return flight[:at] + self.insert + bent[self.remove :]


damages = st.builds(
    Damage,
    flight=st.integers(0, _FLIGHTS - 1),
    place=st.floats(0, 1),
    remove=st.sampled_from((0, 0, 0, 1, 5, 100, 100_000)),
    insert=st.binary(max_size=40),
    flip=st.integers(0, 255),
)


def _assert_sane(step: Step) -> None:
    assert not (step.done and step.failure)
    if step.failure is not None:
        assert step.failure.reason in STAGE_REASONS[step.failure.stage]


@_QUICK
@given(damage=damages)
def test_damage_never_raises(stand: Stand, damage: Damage) -> None:
    """Flips, inserts and losses at any point end in a failure or do no harm; nothing is raised."""
    meeting = meet(stand.client, Server(stand.server), bend=damage, keep=2)
    last = meeting.client.receive_eof()
    if meeting.step.done:
        assert meeting.facts.version is stand.client.version

    for step in (meeting.step, *meeting.after, last):
        _assert_sane(step)
    assert last.failure is not None or last.closed
    assert isinstance(meeting.sessions, tuple)


@_QUICK
@given(flight=st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(lambda tail: b"\x16\x03\x03" + tail)))
def test_garbage_never_raises(stand: Stand, flight: bytes) -> None:
    """Whatever is sent instead of the server's first flight ends in a failure."""
    meeting = meet(stand.client, Server(stand.server), bend=lambda number, good: good if number else flight)

    assert meeting.step.failure is not None
    _assert_sane(meeting.step)
