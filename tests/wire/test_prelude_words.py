"""The PROXY protocol's header, the farewells, and advice."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import Endpoint, ProxyProtocol, StartTls, Target
from exporter.wire.prelude import header
from exporter.wire.prelude.advice import likely
from exporter.wire.prelude.farewell import last_words

SIGNATURE = b"\x0d\x0a\x0d\x0a\x00\x0d\x0a\x51\x55\x49\x54\x0a"
PORTS = b"\xc3\x50\x01\xbb"
TARGET = Target(name="shop", endpoint=Endpoint("shop.test", 8443), server_name="shop.test")
AHEAD = replace(TARGET, proxy_protocol=ProxyProtocol.V2)


def packed(*hosts: str) -> bytes:
    """Give addresses as they stand in the header's second version."""
    return b"".join(ip_address(host).packed for host in hosts)


HEADERS = [
    pytest.param(
        "192.0.2.7",
        "192.0.2.1",
        b"PROXY TCP4 192.0.2.7 192.0.2.1 50000 443\r\n",
        b"\x21\x11\x00\x0c" + packed("192.0.2.7", "192.0.2.1"),
        id="IPv4",
    ),
    pytest.param(
        "2001:db8::7",
        "2001:db8::1",
        b"PROXY TCP6 2001:db8::7 2001:db8::1 50000 443\r\n",
        b"\x21\x21\x00\x24" + packed("2001:db8::7", "2001:db8::1"),
        id="IPv6",
    ),
    pytest.param(
        "fe80::7%eth0",
        "fe80::1%2",
        b"PROXY TCP6 fe80::7 fe80::1 50000 443\r\n",
        b"\x21\x21\x00\x24" + packed("fe80::7", "fe80::1"),
        id="IPv6 with a zone",
    ),
    pytest.param(
        "::ffff:192.0.2.7",
        "::ffff:192.0.2.1",
        b"PROXY TCP4 192.0.2.7 192.0.2.1 50000 443\r\n",
        b"\x21\x11\x00\x0c" + packed("192.0.2.7", "192.0.2.1"),
        id="IPv4 mapped into IPv6",
    ),
]


@pytest.mark.parametrize(("own", "peer", "first", "second"), HEADERS)
def test_header(own: str, peer: str, first: bytes, second: bytes) -> None:
    """Both versions of the header say where the connection comes from and where it goes, byte by byte."""
    ends = Endpoint(own, 50000), Endpoint(peer, 443)

    assert first == header(ProxyProtocol.V1, *ends)
    assert SIGNATURE + second + PORTS == header(ProxyProtocol.V2, *ends)


def test_header_of_two_families() -> None:
    """Where a proxy is reached over IPv4 and a backend over IPv6, both go out as IPv6."""
    ends = Endpoint("192.0.2.7", 50000), Endpoint("2001:db8::1", 443)
    addresses = bytes(10) + b"\xff\xff" + packed("192.0.2.7", "2001:db8::1")
    words = header(ProxyProtocol.V1, *ends).split()

    assert SIGNATURE + b"\x21\x21\x00\x24" + addresses + PORTS == header(ProxyProtocol.V2, *ends)
    assert [b"PROXY", b"TCP6", b"2001:db8::1", b"50000", b"443"] == [*words[:2], *words[3:]]
    assert addresses[:16] == ip_address(words[2].decode()).packed


def test_last_words() -> None:
    """All protocols but PostgreSQL have words to leave with; plain TLS has none."""
    speechless = [starttls for starttls in (None, *StartTls) if not last_words(starttls)]

    assert [None, StartTls.POSTGRESQL] == speechless


@pytest.mark.parametrize(
    ("target", "stage", "reason", "started", "word"),
    [
        pytest.param(TARGET, Stage.HANDSHAKE, Reason.RESET, False, "expects the PROXY", id="nginx or HAProxy wants it"),
        pytest.param(TARGET, Stage.HANDSHAKE, Reason.CLOSED, False, "expects the PROXY", id="closed without a word"),
        pytest.param(TARGET, Stage.HANDSHAKE, Reason.CLOSED, True, "", id="closed amid the handshake"),
        pytest.param(TARGET, Stage.HANDSHAKE, Reason.TIMEOUT, False, "", id="silence"),
        pytest.param(TARGET, Stage.HANDSHAKE, Reason.NOT_TLS, True, "plain HTTP", id="an answer in clear"),
        pytest.param(TARGET, Stage.CONNECT, Reason.RESET, False, "", id="reset while connecting"),
        pytest.param(TARGET, Stage.HTTP, Reason.RESET, False, "", id="reset behind the handshake"),
        pytest.param(AHEAD, Stage.HANDSHAKE, Reason.NOT_TLS, True, "expects no PROXY", id="nginx does not want it"),
        pytest.param(AHEAD, Stage.HANDSHAKE, Reason.CLOSED, False, "expects no PROXY", id="HAProxy does not want it"),
        pytest.param(
            replace(TARGET, endpoint=Endpoint("mail.test", 587)),
            Stage.HANDSHAKE,
            Reason.NOT_TLS,
            True,
            "(starttls: smtp)",
            id="a mail server's greeting",
        ),
        pytest.param(
            replace(TARGET, endpoint=Endpoint("db.test", 5432)),
            Stage.HANDSHAKE,
            Reason.CLOSED,
            False,
            "(starttls: postgresql)",
            id="a database that hangs up",
        ),
        pytest.param(
            replace(TARGET, starttls=StartTls.IMAP),
            Stage.STARTTLS,
            Reason.TIMEOUT,
            False,
            "TLS at once",
            id="TLS from the start",
        ),
        pytest.param(
            replace(TARGET, starttls=StartTls.IMAP),
            Stage.STARTTLS,
            Reason.CLOSED,
            False,
            "expects the PROXY",
            id="a mail server that wants the header",
        ),
        pytest.param(
            replace(AHEAD, starttls=StartTls.SMTP),
            Stage.STARTTLS,
            Reason.REJECTED,
            True,
            "expects no PROXY",
            id="a mail server that takes the header for a command",
        ),
        pytest.param(
            replace(TARGET, starttls=StartTls.SMTP), Stage.STARTTLS, Reason.REJECTED, True, "", id="a server's own no"
        ),
        pytest.param(
            replace(TARGET, starttls=StartTls.SMTP), Stage.HANDSHAKE, Reason.RESET, False, "", id="reset behind its yes"
        ),
    ],
)
def test_advice(target: Target, stage: Stage, reason: Reason, started: bool, word: str) -> None:
    """Advice is given where a failure looks like something missing or unwanted ahead of TLS, and nowhere else."""
    words = likely(target, Failure(stage, reason), started)

    assert (bool(word), True) == (bool(words), word in words)
