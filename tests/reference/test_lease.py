"""The servers for the length of a block, and what they tell of their use."""

import contextlib
from collections.abc import Iterator

import pytest

from exporter.model.target import TlsVersion
from exporter.reference.certificates import make_credentials
from exporter.reference.lease import Lease, LeaseError, lend
from exporter.reference.listeners import SERVER_NAME, STANDARD, Listener
from exporter.yardstick.client import Client
from exporter.yardstick.contexts import trust
from exporter.yardstick.place import Place
from tests.reference.client import is_gone, memory, refuses

CREDENTIALS = make_credentials()
CONTEXT = trust(CREDENTIALS.ca, TlsVersion.TLS13)
LARGE = 3_000_001
MEMORY_KIB = 40 * 1024


def place(lease: Lease, listener: Listener) -> Place:
    """Return a listener as it is measured."""
    context = None if listener is Listener.PLAIN else CONTEXT
    return Place(lease.addresses[listener], context, SERVER_NAME, lambda: lease.read_meter(listener))


@contextlib.contextmanager
def borrowed() -> Iterator[Lease]:
    """Run all servers that need no certificate from elsewhere."""
    with lend(CREDENTIALS, STANDARD) as lease:
        yield lease


def test_each_listener_has_a_meter_of_its_own() -> None:
    """Handshakes move the meter of the listener that they were made with, and no other one."""
    with borrowed() as lease:
        busy, idle = place(lease, Listener.ECDSA), place(lease, Listener.RSA)
        before, untouched = busy.read_meter(), idle.read_meter()
        for _ in range(5):
            Client().shake(busy)

        assert 0 < busy.settle(before, 5) < 1
        assert before.finished + 5 == busy.read_meter().finished
        assert untouched.finished == idle.read_meter().finished


@pytest.mark.parametrize("listener", [Listener.PLAIN, Listener.ECDSA])
def test_large_body(listener: Listener) -> None:
    """A large body comes whole, the connection goes on after it, and the process stays small."""
    with borrowed() as lease, Client().converse(place(lease, listener)) as conversation:
        assert LARGE == conversation.ask(b"/bytes/%d" % LARGE)
        assert 0 == conversation.ask(b"/bytes/0")
        assert 1024 == conversation.ask(b"/")
        assert memory(lease.pid, "status", "VmRSS") < MEMORY_KIB


def test_bound_cipher_suite() -> None:
    """Servers can be bound to one cipher suite of TLS 1.3."""
    suite = "TLS_CHACHA20_POLY1305_SHA256"
    with (
        lend(CREDENTIALS, (Listener.ECDSA,), cipher_suites=suite) as lease,
        Client().converse(place(lease, Listener.ECDSA)) as conversation,
    ):
        assert suite == conversation.cipher


def test_nothing_is_left() -> None:
    """After the block the process and its sockets are gone."""
    with borrowed() as lease:
        assert not refuses(lease.addresses[Listener.PLAIN])

    assert is_gone(lease.pid)
    assert refuses(lease.addresses[Listener.PLAIN])


def test_unusable_certificate() -> None:
    """Servers that cannot start say so at once."""
    with pytest.raises(LeaseError, match="do not start"), lend(CREDENTIALS, (Listener.OWN,), own="no certificate"):
        pass
