"""The sizes of TLS records are those of answers."""

from dataclasses import replace
from pathlib import Path

import pytest

from exporter.model.connections import HttpAnswer
from exporter.model.target import Address
from tests.keepalive.asking import H2, ask_again, offering, reuse_of
from tests.servers import nginx
from tests.servers.certificates import Authority, Leaf
from tests.servers.ports import Ports

_LARGE = 100_000
_SHORTEST_HEAD = 40  # bytes; an HTTP/2 frame that is no answer has 9 to 30


@pytest.mark.servers("nginx")
@pytest.mark.parametrize("alpn", [pytest.param(("http/1.1",), id="HTTP/1.1"), pytest.param(H2, id="HTTP/2")])
async def test_a_larger_body(
    alpn: tuple[str, ...], authority: Authority, leaf: Leaf, tmp_path: Path, ports: Ports
) -> None:
    """A larger body is asked for last, no more than its bound is read, and its largest record is the server's own."""
    (tmp_path / "large").write_bytes(bytes(_LARGE))
    server = f"ssl_buffer_size 4k; location /large {{ root {tmp_path}; }}"
    settings = nginx.Settings(leaf=leaf, server=server, listen="http2" if alpn is H2 else "")
    with nginx.start(tmp_path / "server", Address("127.0.0.1", ports.claim()), settings) as running:
        target = offering(running.address, authority, alpn)
        whole = replace(target, http=replace(target.http, large_path="/large"))
        bounded = replace(target, http=replace(target.http, large_path="/large", large_bytes=20_000))
        small, large = [reuse_of(await ask_again(one, requests=2, large=True)).large for one in (bounded, whole)]
        first = (await ask_again(target)).http

    assert isinstance(small, HttpAnswer)
    assert isinstance(large, HttpAnswer)
    assert 20_000 <= small.body_bytes < _LARGE
    assert _LARGE == large.body_bytes
    assert large.records is not None
    assert 4096 == large.records.largest
    assert isinstance(first, HttpAnswer)
    assert first.records is not None
    assert first.records.first > _SHORTEST_HEAD
