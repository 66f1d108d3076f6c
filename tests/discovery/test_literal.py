"""Addresses without a name service."""

import pytest

from exporter.discovery.literal import in_order, literal
from exporter.model.target import Address, Endpoint


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        pytest.param("127.0.0.1", "127.0.0.1", id="IPv4"),
        pytest.param("::1", "::1", id="IPv6"),
        pytest.param("2001:DB8:0::1", "2001:db8::1", id="IPv6 in another spelling"),
        pytest.param("fe80::1%eth0", "fe80::1%eth0", id="IPv6 with a zone"),
        pytest.param("localhost", None, id="a name"),
        pytest.param("10.0.0.256", None, id="no address after all"),
        pytest.param("127.1", None, id="a short form is the system's business"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_literal(host: str, expected: str | None) -> None:
    """A literal is an address at once, in one spelling; all else is a name."""
    assert (Address(expected, 443) if expected else None) == literal(Endpoint(host, 443))


def test_order() -> None:
    """Addresses are in numeric order, IPv4 first, whatever order the name service gave them in."""
    hosts = ["10.0.0.9", "10.0.0.10", "10.0.0.100", "::1", "fe80::2%eth0", "fe80::2%eth1", "fe80::10%eth0"]

    assert [each.host for each in in_order({Address(host, 443) for host in reversed(hosts)})] == hosts


def test_order_by_port() -> None:
    """Two ports of one host are two backends."""
    assert in_order({Address("::1", 9443), Address("::1", 443)}) == (Address("::1", 443), Address("::1", 9443))
