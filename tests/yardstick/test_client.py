"""The measuring client against the reference servers."""

import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from exporter.model.observation import Mode
from exporter.model.target import Address, TlsVersion
from exporter.model.yardstick import KINDS
from exporter.reference.certificates import make_credentials
from exporter.reference.lease import Lease, lend
from exporter.reference.listeners import SERVER_NAME, STANDARD, Listener
from exporter.yardstick.client import Client, Shaken
from exporter.yardstick.contexts import accept, trust
from exporter.yardstick.passes import Passes, Subject
from exporter.yardstick.place import Meter, MeterError, Place
from exporter.yardstick.rates import Transfers, pair_requests, pair_reuse
from tests.servers.process import find_program

ROOT = Path(__file__).parents[2]
CREDENTIALS = make_credentials()
PORTS = 40
EXHAUSTION = """
import subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
with open("/proc/sys/net/ipv4/ip_local_port_range", "w") as file:
    file.write(f"40000 {40000 + int(sys.argv[1]) - 1}")
with open("/proc/sys/net/ipv4/tcp_tw_reuse", "w") as file:
    file.write("0")  # else Linux gives ports on loopback anew after a second
from tests.yardstick.test_client import CREDENTIALS, place
from exporter.reference.lease import lend
from exporter.reference.listeners import STANDARD, Listener
from exporter.yardstick.client import Client
with lend(CREDENTIALS, STANDARD) as lease:
    client = Client()
    for _ in range(3 * int(sys.argv[1])):
        client.shake(place(lease, Listener.ECDSA))
    print("handshakes from", client.source)
    for _ in range(3 * int(sys.argv[1])):
        with client.converse(place(lease, Listener.PLAIN)) as conversation:
            conversation.ask(b"/")
print("requests from", client.source)
"""


@pytest.fixture(scope="module")
def lease() -> Iterator[Lease]:
    """The reference servers."""
    with lend(CREDENTIALS, STANDARD) as running:
        yield running


def place(lease: Lease, listener: Listener, context: ssl.SSLContext | None = None) -> Place:
    """Return a listener as it is measured."""
    usual = None if listener is Listener.PLAIN else trust(CREDENTIALS.ca, TlsVersion.TLS13)
    return Place(lease.addresses[listener], context or usual, SERVER_NAME, lambda: lease.read_meter(listener))


@pytest.mark.parametrize(
    ("listener", "version"),
    [
        pytest.param(Listener.ECDSA, TlsVersion.TLS13, id="1.3"),
        pytest.param(Listener.TLS12, TlsVersion.TLS12, id="1.2"),
    ],
)
def test_sessions_are_used_again_and_again(lease: Lease, listener: Listener, version: TlsVersion) -> None:
    """One session resumes each time that it is offered, and none resumes at a server with another key."""
    client, context = Client(), trust(CREDENTIALS.ca, version)
    own, stranger = place(lease, listener, context), place(lease, Listener.C, context)
    session = client.take_session(own)

    assert [True] * 5 == [client.shake(own, session).resumed for _ in range(5)]
    assert not client.shake(own).resumed
    assert not client.shake(own, client.take_session(stranger)).resumed


def test_untrusted_certificate(lease: Lease) -> None:
    """A server is verified, unless that was not wanted."""
    someone_else = trust(make_credentials().ca, TlsVersion.TLS13)
    with pytest.raises(ssl.SSLCertVerificationError):
        Client().shake(place(lease, Listener.ECDSA, someone_else))
    Client().shake(place(lease, Listener.ECDSA, accept(TlsVersion.TLS13)))


class Noting(Client):
    """A client that shakes no hands and notes the order in which it was to."""

    def __init__(self) -> None:
        super().__init__()
        self.order: list[str] = []

    def take_session(self, place: Place) -> ssl.SSLSession | None:
        """There is none."""
        return None

    def shake(self, place: Place, session: ssl.SSLSession | None = None) -> Shaken:
        """Note who was asked."""
        self.order.append(place.server_name)
        return Shaken(0.001, resumed=False)


def test_order_alternates() -> None:
    """Every other pass goes the other way round, so that what comes first has no lasting advantage."""
    ticks = iter(range(1000))
    one, two = (
        Place(Address("127.0.0.1", 1), None, name, lambda: Meter(float(tick := next(ticks)), tick))
        for name in ("one", "two")
    )
    client = Noting()
    passes = Passes(client, [Subject(KINDS[0], one, two), Subject(KINDS[1], two, None)])
    made = [passes.make() for _ in range(3)]

    forward = ["one"] * 3 + ["two"] * 2
    assert forward + forward[::-1] + forward == client.order
    assert [list(Mode), list(Mode)[:2]] == [[shake.mode for shake in each.shakes] for each in made[1]]


def test_batches(lease: Lease) -> None:
    """Several handshakes in a row make one figure, which tells how many of them resumed."""
    subject = Subject(KINDS[0], place(lease, Listener.ECDSA), None)
    ((one,),) = (Passes(Client(), [subject], batch=3).make(),)

    assert [(3, 0), (3, 3)] == [(shake.asked, shake.resumed) for shake in one.shakes]
    assert all(shake.as_meant and 0 < shake.cpu < 1 for shake in one.shakes)


def test_server_that_is_never_done(lease: Lease) -> None:
    """What a connection costs is not told before the server is done with it, and waiting for that has an end."""
    where = place(lease, Listener.ECDSA)
    with pytest.raises(MeterError, match="0 of 1 connections done"):
        where.settle(where.read_meter(), 1)


def test_rates(lease: Lease) -> None:
    """Rates and costs come as pairs, as many as were asked for."""
    client, plain, tls = Client(), place(lease, Listener.PLAIN), place(lease, Listener.ECDSA)
    requests = pair_requests(client, plain, tls, 10, 3)
    reuse = pair_reuse(client, tls, 2, 10, 3)

    assert (3, 3) == (len(requests), len(reuse))
    assert all(pair.base > 0 and pair.other > 0 for pair in requests)
    assert all(pair.ratio > 1 for pair in reuse)
    with closing(Transfers(client, (plain, tls))) as transfers:
        assert ["", "TLS_AES_256_GCM_SHA384"] == transfers.ciphers
        for clear, secret in (transfers.make(500_000) for _ in range(2)):
            assert all(figure > 0 for figure in (*clear, *secret))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n", id="another status"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n", id="no length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", id="closed too early"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_odd_answers(answer: bytes) -> None:
    """An answer that is not whole, or not the one that was wanted, is an error and never a fast answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        odd = Place(Address(*listening.getsockname()), None, "odd", lambda: Meter(0.0, 0))
        served = threading.Thread(target=serve_once, args=(listening, answer))
        served.start()
        with pytest.raises(OSError, match="answer"), Client().converse(odd) as conversation:
            conversation.ask(b"/")
        served.join()


def serve_once(listening: socket.socket, answer: bytes) -> None:
    """Take one connection, read something, answer and close."""
    connection, _ = listening.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(answer)


@pytest.mark.servers("unshare", "ip")
def test_ports_run_out() -> None:
    """A tight loop uses up no ports where the server closes first, and else goes on from the next source address."""
    alone = [find_program("unshare"), "--net"]
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        pytest.skip("a network of its own needs root")
    done = subprocess.run(
        [*alone, sys.executable, "-c", EXHAUSTION, str(PORTS)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    handshakes, requests = (int(line.rpartition(" ")[2]) for line in done.stdout.splitlines())
    assert handshakes == 1
    assert requests >= 3
