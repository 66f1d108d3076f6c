"""One worker's loop, against real servers and against peers that misbehave."""

import os
import time
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.load.entrance import Entrance
from exporter.load.loop import Driver, StopError
from exporter.load.orders import Order, Site, Tally, unpack_times
from exporter.load.scout import scout
from exporter.model.observation import Mode
from exporter.model.target import Address, TlsVersion
from tests.load import peers
from tests.servers import nginx, s_server
from tests.servers.certificates import SERVER_NAME, Leaf
from tests.servers.ports import Ports
from tests.servers.process import Server

MOST = 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, ports: Ports, leaf: Leaf) -> Iterator[Server]:
    """An nginx with tickets."""
    with nginx.start(
        tmp_path_factory.mktemp("load"), Address("127.0.0.1", ports.claim()), nginx.Settings(leaf=leaf)
    ) as running:
        yield running


def entrance_to(
    address: Address, version: TlsVersion | None = None, path: str | None = "/", timeout: float = 20.0
) -> Entrance:
    """Return a way in that has not been scouted."""
    return Entrance(Site(address.host, address.port, SERVER_NAME, version, path, timeout))


def drive(entrance: Entrance, mode: Mode = Mode.FULL, **words: float) -> Tally:
    """Carry out an order that begins now."""
    order = Order(mode=mode, begin=time.monotonic(), **{"seconds": 0.4, "rate": 1e6, **words})  # type: ignore[arg-type]
    return Driver(entrance, order, time.monotonic, most=MOST).run()


@pytest.mark.servers("nginx")
@pytest.mark.parametrize("path", ["/", None], ids=["with a request", "handshake alone"])
@pytest.mark.parametrize("version", list(TlsVersion))
def test_modes(server: Server, version: TlsVersion, path: str | None) -> None:
    """All connections resume where a session is offered, and none where none is."""
    entrance = entrance_to(server.address, version, path)

    assert scout(entrance).resumes
    full, resumed = drive(entrance, Mode.FULL, clients=4), drive(entrance, Mode.RESUMED, clients=4)
    assert full.done > 0
    assert full.resumed == 0
    assert resumed.done > 0
    assert resumed.resumed == resumed.done
    assert not full.failures
    assert not resumed.failures


@pytest.mark.servers("nginx")
def test_open_loop_begins_all_that_is_due(server: Server) -> None:
    """Each connection that the clock wants is begun and ends, and what it waited for us counts."""
    entrance = entrance_to(server.address)
    scout(entrance)
    tally = drive(entrance, rate=50.0, seconds=1.0)

    assert tally.due == 50
    assert not tally.failures
    handshakes, first_bytes = unpack_times(tally.handshakes), unpack_times(tally.first_bytes)
    assert len(handshakes) == len(first_bytes) == 50
    assert all(first > shaken for shaken, first in zip(handshakes, first_bytes, strict=True))
    assert all(
        shaken > late for shaken, late in zip(sorted(handshakes), sorted(unpack_times(tally.lateness)), strict=True)
    )


@pytest.mark.servers("nginx")
def test_closed_loop_keeps_its_bound(server: Server) -> None:
    """A closed loop never exceeds the rate that is allowed, however quick the server."""
    entrance = entrance_to(server.address)
    scout(entrance)

    assert drive(entrance, Mode.RESUMED, clients=8, rate=20.0, seconds=1.0).due <= 21


@pytest.mark.servers("nginx")
def test_requests_beside_handshakes(server: Server) -> None:
    """Kept-alive requests go on beside handshakes, over few connections, and are all answered."""
    entrance = entrance_to(server.address)
    scout(entrance)
    tally = drive(entrance, rate=20.0, seconds=1.0, background=40.0)

    assert tally.requests.due == 40
    assert len(unpack_times(tally.requests.times)) == 40
    assert not tally.requests.failures
    assert not tally.failures


@pytest.mark.servers("openssl")
def test_single_use_tickets(tmp_path: Path, ports: Ports, leaf: Leaf) -> None:
    """Where a ticket is good for one use, each connection brings the next one's."""
    settings = s_server.Settings(leaf=leaf, early_data=True)
    with s_server.start(tmp_path, Address("127.0.0.1", ports.claim()), settings) as running:
        entrance = entrance_to(running.address, TlsVersion.TLS13, path=None)
        scouted = scout(entrance)
        tally = drive(entrance, Mode.RESUMED, clients=1, warm_up=0.3, seconds=0.7)

    assert scouted.single_use
    assert tally.done > 0
    assert tally.resumed == tally.done


@pytest.mark.parametrize(
    ("behave", "expected", "refusals"),
    [
        pytest.param(peers.close_at_once, "handshake: ", 10, id="hangs up"),
        pytest.param(peers.keep_silent, "handshake: timeout", 0, id="says nothing"),
    ],
)
def test_failures(behave: peers.Behaviour, expected: str, refusals: int) -> None:
    """What fails is told by its kind, and a refusal by how quickly it came; silence is no refusal."""
    with peers.listen(behave) as address:
        tally = drive(entrance_to(address, timeout=0.3), rate=25.0)

    assert sum(tally.failures.values()) == tally.due == 10
    assert all(name.startswith(expected) for name in tally.failures)
    assert len(unpack_times(tally.refusals)) == refusals
    assert tally.done == 0


@pytest.mark.parametrize("status", ["503 Service Unavailable", "429 Too Many Requests"])
def test_status_that_refuses(status: str, leaf: Leaf) -> None:
    """A server that answers that it cannot has refused, though the handshake was done."""
    with peers.listen(peers.answer(leaf, status)) as address:
        tally = drive(entrance_to(address), rate=10.0)

    assert tally.failures == {"http: unexpected status": tally.due}
    assert len(unpack_times(tally.refusals)) == tally.due


def test_nobody_listens(ports: Ports) -> None:
    """A port where nobody listens refuses each connection, and scouting says so."""
    entrance = entrance_to(Address("127.0.0.1", ports.claim()))

    assert "connection refused" in scout(entrance).problem
    assert drive(entrance, rate=25.0).failures == {"connect: connection refused": 10}


def test_more_than_can_be_under_way() -> None:
    """What cannot begin, since too much is under way, is counted and not forgotten."""
    with peers.listen(peers.keep_silent) as address:
        entrance = entrance_to(address, timeout=0.6)
        order = Order(mode=Mode.FULL, begin=time.monotonic(), seconds=0.5, rate=100.0)
        tally = Driver(entrance, order, time.monotonic, most=5).run()

    assert tally.due == 50
    assert tally.unstarted == 45
    assert tally.failures == {"handshake: timeout": 5}


def test_parent_that_has_gone() -> None:
    """A loop ends at once when the parent's pipe can be read, as it can when the parent has gone."""
    ours, parents = os.pipe()
    os.close(parents)
    try:
        with peers.listen(peers.keep_silent) as address:
            order = Order(mode=Mode.FULL, begin=time.monotonic(), seconds=60.0, rate=1.0)
            with pytest.raises(StopError):
                Driver(entrance_to(address), order, time.monotonic, most=5, stop=ours).run()
    finally:
        os.close(ours)


def test_times_survive_the_pipe() -> None:
    """Times are sent as they are."""
    assert unpack_times(array("d", [0.25, 3.0]).tobytes()).tolist() == [0.25, 3.0]
