"""Servers that spoil the handshake, each in a way of its own."""

import ssl
from collections.abc import Callable
from dataclasses import replace

import pytest

from exporter.model.failure import Reason, Stage
from exporter.model.target import Target, TlsVersion
from tests.hostile.dialling import SLACK, TIMEOUT, dial
from tests.hostile.listener import Peer, Script, listening
from tests.hostile.scripts import alerting, all_but_a_byte, cutting, dripping, half_a_server_hello, leave, sending

_NOISE = bytes(range(7, 256, 11)) * 40  # a byte that starts no record, and no pattern
_BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 11\r\n\r\nBad Request"

Make = Callable[[ssl.SSLContext], Script]


def _record(kind: int, body: bytes) -> bytes:
    return bytes((kind, 3, 3)) + len(body).to_bytes(2) + body


def _always(script: Script) -> Make:
    return lambda _context: script


def _cut(cut: Callable[[bytes], bytes], ending: Script) -> Make:
    return lambda context: cutting(context, cut, ending)


_SPOILT = [
    pytest.param(_always(Peer.hang_up), Reason.CLOSED, id="closed at once"),
    pytest.param(_always(sending(b"")), Reason.CLOSED, id="closed after the ClientHello"),
    pytest.param(_always(sending(b"", Peer.reset)), Reason.RESET, id="reset after the ClientHello"),
    pytest.param(_cut(half_a_server_hello, leave), Reason.CLOSED, id="closed in the ServerHello"),
    pytest.param(_cut(half_a_server_hello, Peer.reset), Reason.RESET, id="reset in the ServerHello"),
    pytest.param(_cut(all_but_a_byte, leave), Reason.CLOSED, id="closed before the flight's last byte"),
    pytest.param(_cut(all_but_a_byte, Peer.reset), Reason.RESET, id="reset before the flight's last byte"),
    pytest.param(_always(alerting(0, level=1)), Reason.CLOSED, id="close_notify for an answer"),
    pytest.param(_always(sending(_BAD_REQUEST)), Reason.NOT_TLS, id="plaintext HTTP"),
    pytest.param(_always(sending(b"SSH-2.0-OpenSSH_9.2\r\n", Peer.linger)), Reason.NOT_TLS, id="SSH banner"),
    pytest.param(_always(sending(_NOISE, Peer.linger)), Reason.NOT_TLS, id="garbage from the first byte on"),
    pytest.param(_always(sending(_record(22, _NOISE[:400]), Peer.linger)), Reason.MALFORMED, id="garbage in a record"),
    pytest.param(_always(sending(b"\x16\x03\x03\xff\xff" + _NOISE)), Reason.MALFORMED, id="a record of 65535 bytes"),
    pytest.param(_always(sending(_record(99, b"?"), Peer.linger)), Reason.NOT_TLS, id="a record of no known type"),
    pytest.param(_always(sending(_record(23, b"?" * 40), Peer.linger)), Reason.MALFORMED, id="data before keys"),
    pytest.param(
        _always(sending(_record(22, b"\x02\xff\xff\xff"), Peer.linger)),
        Reason.MESSAGE_TOO_LARGE,
        id="a ServerHello of 16 MiB",
    ),
]
_ALERTS = [
    pytest.param(10, Reason.ALERT_OTHER, id="unexpected_message"),
    pytest.param(20, Reason.ALERT_OTHER, id="bad_record_mac"),
    pytest.param(40, Reason.ALERT_HANDSHAKE_FAILURE, id="handshake_failure"),
    pytest.param(42, Reason.ALERT_CERTIFICATE, id="bad_certificate"),
    pytest.param(45, Reason.ALERT_CERTIFICATE, id="certificate_expired"),
    pytest.param(47, Reason.ALERT_OTHER, id="illegal_parameter"),
    pytest.param(48, Reason.ALERT_CERTIFICATE, id="unknown_ca"),
    pytest.param(70, Reason.ALERT_PROTOCOL_VERSION, id="protocol_version"),
    pytest.param(71, Reason.ALERT_HANDSHAKE_FAILURE, id="insufficient_security"),
    pytest.param(80, Reason.ALERT_INTERNAL_ERROR, id="internal_error"),
    pytest.param(112, Reason.ALERT_UNRECOGNIZED_NAME, id="unrecognized_name"),
    pytest.param(116, Reason.ALERT_CERTIFICATE, id="certificate_required"),
    pytest.param(120, Reason.ALERT_OTHER, id="no_application_protocol"),
    pytest.param(255, Reason.ALERT_OTHER, id="an alert that nobody has defined"),
]


@pytest.mark.parametrize("version", TlsVersion)
@pytest.mark.parametrize(("make", "reason"), _SPOILT)
async def test_spoilt_handshake(
    site: Target, context: ssl.SSLContext, make: Make, reason: Reason, version: TlsVersion
) -> None:
    """What is wrong from what was sent is told without waiting for the deadline."""
    with listening(make(context)) as address:
        done = await dial(site, address, version)

    assert (done.failure.stage, done.failure.reason) == (Stage.HANDSHAKE, reason)
    assert done.elapsed < SLACK


@pytest.mark.parametrize("version", TlsVersion)
async def test_reset_at_once(site: Target, version: TlsVersion) -> None:
    """A connection that is reset before a word was said is a reset, whether it is seen as open before that or not."""
    with listening(Peer.reset) as address:
        done = await dial(site, address, version)

    assert done.failure.stage in {Stage.CONNECT, Stage.HANDSHAKE}
    assert done.failure.reason is Reason.RESET
    assert done.elapsed < SLACK


@pytest.mark.parametrize("version", TlsVersion)
@pytest.mark.parametrize(("number", "reason"), _ALERTS)
async def test_fatal_alert(site: Target, number: int, reason: Reason, version: TlsVersion) -> None:
    """An alert that answers the ClientHello is told by its name."""
    with listening(alerting(number)) as address:
        done = await dial(site, address, version)

    assert (done.failure.stage, done.failure.reason) == (Stage.HANDSHAKE, reason)
    assert done.elapsed < SLACK


@pytest.mark.parametrize("version", TlsVersion)
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(_always(Peer.linger), Reason.TIMEOUT, id="silent after accept"),
        pytest.param(_cut(half_a_server_hello, Peer.linger), Reason.STALLED, id="silent in the ServerHello"),
        pytest.param(_cut(all_but_a_byte, Peer.linger), Reason.STALLED, id="silent before the flight's last byte"),
    ],
)
async def test_silent_server(
    site: Target, context: ssl.SSLContext, make: Make, reason: Reason, version: TlsVersion
) -> None:
    """A server that falls silent is left at the deadline, and whether it said anything is told."""
    with listening(make(context)) as address:
        done = await dial(site, address, version)

    assert (done.failure.stage, done.failure.reason) == (Stage.HANDSHAKE, reason)
    assert TIMEOUT * 0.9 <= done.elapsed < TIMEOUT + SLACK


@pytest.mark.parametrize("version", TlsVersion)
async def test_byte_a_second(site: Target, context: ssl.SSLContext, version: TlsVersion) -> None:
    """A server that keeps on sending gets no more time than a silent one."""
    with listening(dripping(context, interval=1.0)) as address:
        done = await dial(replace(site, timeout=2.5), address, version)

    assert (done.failure.stage, done.failure.reason) == (Stage.HANDSHAKE, Reason.STALLED)
    assert 2.5 * 0.9 <= done.elapsed < 2.5 + SLACK
