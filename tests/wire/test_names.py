"""Whether a certificate is for a name."""

from ipaddress import ip_address, ip_network

import pytest
from cryptography import x509

from exporter.wire.names import HeldNames, is_address, wire_name

HELD = HeldNames(
    [
        x509.DNSName("shop.test"),
        x509.DNSName("*.shop.test"),
        x509.DNSName("UPPER.test"),
        x509.DNSName("*.xn--strae-oqa.test"),
        x509.DNSName("f*.part.test"),
        x509.DNSName("a.*.inner.test"),
        x509.DNSName("*.*.double.test"),
        x509.DNSName("*"),
        x509.DNSName("*."),
        x509.DNSName("192.0.2.7"),
        x509.RFC822Name("mail.test"),
        x509.UniformResourceIdentifier("https://uri.test"),
        x509.IPAddress(ip_address("192.0.2.1")),
        x509.IPAddress(ip_address("2001:db8::1")),
        x509.IPAddress(ip_network("198.51.100.0/24")),
    ]
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("shop.test", True, id="exact"),
        pytest.param("SHOP.Test", True, id="in capitals"),
        pytest.param("upper.test", True, id="held in capitals"),
        pytest.param("shop.test.", True, id="closing dot"),
        pytest.param("www.shop.test", True, id="wildcard"),
        pytest.param("www.shop.test.", True, id="wildcard and closing dot"),
        pytest.param("xn--mnchen-3ya.shop.test", True, id="wildcard for an A-label"),
        pytest.param("a.xn--strae-oqa.test", True, id="wildcard below an A-label"),
        pytest.param("a.b.shop.test", False, id="wildcard for two labels"),
        pytest.param("other.test", False, id="another"),
        pytest.param("foo.part.test", False, id="part of a label"),
        pytest.param("a.b.inner.test", False, id="an inner label"),
        pytest.param("a.b.double.test", False, id="two wildcards"),
        pytest.param("localhost", False, id="a lone star is for no name"),
        pytest.param("mail.test", False, id="mail address"),
        pytest.param("uri.test", False, id="URI"),
        pytest.param("192.0.2.1", True, id="IPv4"),
        pytest.param("2001:db8::1", True, id="IPv6"),
        pytest.param("2001:0DB8:0:0::1", True, id="IPv6 in another form"),
        pytest.param("2001:db8::1%eth0", True, id="IPv6 with a zone"),
        pytest.param("192.0.2.7", False, id="an address among the DNS names"),
        pytest.param("198.51.100.1", False, id="a network"),
        pytest.param("::ffff:192.0.2.1", False, id="IPv4 within IPv6"),
    ],
)
def test_match(name: str, expected: bool) -> None:
    """Names match as a whole or by one left-most wildcard label, addresses by their value (RFC 9525 section 6)."""
    assert HELD.match(name) is expected


def test_unicode_name() -> None:
    """A name that is not ASCII is looked for as it is sent."""
    held = HeldNames([x509.DNSName("xn--mnchen-3ya.test")])

    assert wire_name("münchen.test") == b"xn--mnchen-3ya.test"
    assert held.match("münchen.test")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("127.0.0.1", True), ("::1", True), ("fe80::1%lo", True), ("site.test", False), ("1.2.3", False)],
)
def test_is_address(name: str, expected: bool) -> None:
    """An IP literal is told from a name."""
    assert is_address(name) is expected
