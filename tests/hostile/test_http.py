"""Servers that shake hands properly and then answer badly."""

import ssl
from collections.abc import Callable
from dataclasses import replace

import pytest

from exporter.model.connections import HttpAnswer
from exporter.model.failure import Reason, Stage
from exporter.model.target import HttpSettings, Target, TlsVersion
from tests.hostile.dialling import SLACK, TIMEOUT, dial
from tests.hostile.listener import Peer, Script, listening
from tests.hostile.scripts import answering, answering_endlessly, leave

_NOISE = bytes(range(7, 256, 11)) * 40

Make = Callable[[ssl.SSLContext], Script]


def _saying(*pieces: bytes, ending: Script = leave) -> Make:
    return lambda context: answering(context, *pieces, ending=ending)


def _endlessly(head: bytes, piece: bytes) -> Make:
    return lambda context: answering_endlessly(context, head, piece)


_OK = b"HTTP/1.1 200 OK\r\n"
_BAD_ANSWERS = [
    pytest.param(_saying(_NOISE, ending=Peer.linger), Reason.NOT_HTTP, id="garbage"),
    pytest.param(_saying(b"SSH-2.0-OpenSSH_9.2\r\n", ending=Peer.linger), Reason.NOT_HTTP, id="SSH banner"),
    pytest.param(_saying(), Reason.CLOSED, id="closed before an answer"),
    pytest.param(_saying(ending=Peer.reset), Reason.RESET, id="reset before an answer"),
    pytest.param(_saying(_OK), Reason.CLOSED, id="closed in the headers"),
    pytest.param(_saying(_OK + b"Content-Length: 9\r\n\r\nfour"), Reason.CLOSED, id="closed in the body"),
    pytest.param(_saying(_OK + b"Content-Length: 9\r\n\r\nfour", ending=Peer.reset), Reason.RESET, id="reset in it"),
    pytest.param(_saying(_OK + b"Content-Length: -5\r\n\r\n"), Reason.MALFORMED, id="a length below nothing"),
    pytest.param(
        _saying(_OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nok"), Reason.MALFORMED, id="two lengths"
    ),
    pytest.param(
        _saying(_OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), Reason.MALFORMED, id="a chunk size that is none"
    ),
    pytest.param(_endlessly(_OK, b"X-More: and more\r\n" * 50), Reason.TOO_LARGE, id="endless headers"),
    pytest.param(_endlessly(_OK + b"X-Long: ", b"x" * 1000), Reason.TOO_LARGE, id="an endless header"),
    pytest.param(_endlessly(_OK + b"\r\n", b"x" * 16000), Reason.TOO_LARGE, id="an endless body"),
    pytest.param(
        _endlessly(_OK + b"Transfer-Encoding: chunked\r\n\r\n", b"3e8\r\n" + b"x" * 1000 + b"\r\n"),
        Reason.TOO_LARGE,
        id="endless chunks",
    ),
    pytest.param(_endlessly(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 40), Reason.FLOODED, id="endless prologues"),
]


@pytest.mark.parametrize("version", TlsVersion)
@pytest.mark.parametrize(("make", "reason"), _BAD_ANSWERS)
async def test_bad_answer(
    site: Target, context: ssl.SSLContext, make: Make, reason: Reason, version: TlsVersion
) -> None:
    """A bad answer is told as such without waiting for the deadline, beside a handshake that stands."""
    with listening(make(context)) as address:
        done = await dial(site, address, version, http=True)

    assert (done.http_failure.stage, done.http_failure.reason) == (Stage.HTTP, reason)
    assert done.handshake.tls.version is version
    assert done.elapsed < TIMEOUT


@pytest.mark.parametrize("version", TlsVersion)
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(_saying(ending=Peer.linger), Reason.TIMEOUT, id="silent after the request"),
        pytest.param(_saying(_OK, ending=Peer.linger), Reason.STALLED, id="silent in the headers"),
        pytest.param(
            _saying(_OK + b"Content-Length: 9\r\n\r\nfour", ending=Peer.linger), Reason.STALLED, id="silent in the body"
        ),
    ],
)
async def test_silent_answer(
    site: Target, context: ssl.SSLContext, make: Make, reason: Reason, version: TlsVersion
) -> None:
    """A server that falls silent over a request is left at the connection's deadline."""
    with listening(make(context)) as address:
        done = await dial(site, address, version, http=True)

    assert (done.http_failure.stage, done.http_failure.reason) == (Stage.HTTP, reason)
    assert TIMEOUT * 0.9 <= done.elapsed < TIMEOUT + SLACK


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        pytest.param((), None, id="any will do"),
        pytest.param((200, 503), None, id="among those expected"),
        pytest.param((200,), Reason.UNEXPECTED_STATUS, id="not expected"),
    ],
)
async def test_status(site: Target, context: ssl.SSLContext, expected: tuple[int, ...], reason: Reason | None) -> None:
    """A status is unexpected only where others were asked for, and an answer all the same."""
    asking = replace(site, http=HttpSettings(expect_status=expected))
    say = answering(context, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", ending=Peer.linger)
    with listening(say) as address:
        done = await dial(asking, address, TlsVersion.TLS13, http=True)

    http = done.handshake.http
    assert isinstance(http, HttpAnswer)
    assert reason == (http.unexpected and http.unexpected.reason)


async def test_more_body_than_announced(site: Target, context: ssl.SSLContext) -> None:
    """Bytes past the announced length belong to no answer: the answer stands, and the connection is not kept."""
    say = answering(context, _OK + b"Content-Length: 2\r\n\r\nokay, and more", ending=Peer.linger)
    with listening(say) as address:
        done = await dial(site, address, TlsVersion.TLS13, http=True)

    assert isinstance(done.handshake.http, HttpAnswer)
    assert done.handshake.http.body_bytes == 2
