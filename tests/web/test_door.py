"""Where the pages are found."""

import socket
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from exporter.config.problem import RefusedError
from exporter.web.door import Door, parse_external_url, parse_prefix
from exporter.web.server import serve
from tests.web.client import fetch, pages, serving

HERE = ("127.0.0.1:0",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("https://site.test", "https://site.test", id="a host"),
        pytest.param("https://site.test/", "https://site.test", id="a slash at its end"),
        pytest.param("http://[::1]:80/a/b/", "http://[::1]:80/a/b", id="address, port and path"),
        pytest.param("site.test", None, id="no scheme"),
        pytest.param("ftp://site.test", None, id="another scheme"),
        pytest.param("https://me:secret@site.test", None, id="a password"),
        pytest.param("https://site.test?x", None, id="a query"),
        pytest.param("https://site.test#x", None, id="a fragment"),
        pytest.param("https:///x", None, id="no host"),
        pytest.param("https://site.test/<x>", None, id="no path"),
        pytest.param("https://[::1", None, id="a bracket left open"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_external_url(text: str, expected: str | None) -> None:
    """The external URL is one that pages can have, and loses the slash at its end."""
    if expected is not None:
        assert expected == parse_external_url(text)
        return
    with pytest.raises(RefusedError):
        parse_external_url(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("/", "", id="root"),
        pytest.param("", "", id="nothing"),
        pytest.param("a", "/a", id="no slash"),
        pytest.param("/a/b/", "/a/b", id="two steps"),
        pytest.param("/a b", None, id="a space"),
        pytest.param("/{a}", None, id="a pattern"),
        pytest.param("/a/../b", None, id="back"),
        pytest.param("/a//b", None, id="an empty step"),
    ],
)
def test_prefix(text: str, expected: str | None) -> None:
    """The prefix has a slash in front and none at its end."""
    if expected is not None:
        assert expected == parse_prefix(text)
        return
    with pytest.raises(RefusedError):
        parse_prefix(text)


@pytest.mark.parametrize(
    ("path", "status", "location"),
    [
        pytest.param("/a/b/metrics", 200, None, id="metrics"),
        pytest.param("/a/b/-/ready", 200, None, id="readiness"),
        pytest.param("/a/b/", 200, None, id="the first page"),
        pytest.param("/a/b", 302, "/a/b/", id="without its slash"),
        pytest.param("/", 302, "/a/b/", id="the root leads there"),
        pytest.param("/metrics", 404, None, id="nothing is left without the prefix"),
    ],
)
async def test_pages_under_a_prefix(path: str, status: int, location: str | None) -> None:
    """All pages are under the prefix, and the root leads there."""
    async with serving(pages(), door=Door(HERE, prefix="/a/b")) as address:
        answer = await fetch(address, path)

    assert (answer.status, answer.headers.get("location")) == (status, location)


async def test_a_proxy_that_takes_the_path_away() -> None:
    """People are led to where they see us, which may not be where the proxy asks us."""
    door = Door(HERE, prefix="/inner", external_url="https://site.test/outer")
    async with serving(pages(), door=door) as address:
        answer = await fetch(address, "/")

    assert answer.headers["location"] == "/outer/"


async def test_health_on_its_own() -> None:
    """Health and readiness are told at an address of their own, which has no prefix and no other page."""
    door = Door(HERE, health=HERE, prefix="/a")
    async with serve(door, pages(not_ready="not yet")) as served:
        (address,) = served.health
        answers = [await fetch(address, path) for path in ("/-/healthy", "/-/ready", "/metrics", "/")]

    assert [each.status for each in answers] == [200, 503, 404, 404]


async def test_a_socket_file(tmp_path: Path) -> None:
    """The pages are served on a socket file too, which is gone afterwards."""
    file = tmp_path / "web.sock"
    async with serve(Door((*HERE, f"unix:{file}")), pages()) as served:
        assert served.places == (str(served.addresses[0]), f"unix:{file}")
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(file))

    assert not file.exists()


async def test_sockets_that_listen_already() -> None:
    """Sockets that were handed over are served instead of addresses."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        async with serving(pages(), door=Door(("127.0.0.1:1",), sockets=(listener,))) as address:
            assert address.port == listener.getsockname()[1]
            assert (await fetch(address, "/metrics")).status == 200


@pytest.mark.parametrize(
    ("lifecycle", "problem", "expected"),
    [
        pytest.param(True, None, (200, b"reloaded\n"), id="reloaded"),
        pytest.param(True, "line 3 is wrong", (500, b"line 3 is wrong\n"), id="a mistake"),
        pytest.param(
            False, None, (403, b"lifecycle API is not enabled, --web.enable-lifecycle does\n"), id="not allowed"
        ),
    ],
)
async def test_reload(lifecycle: bool, problem: str | None, expected: Sequence[object]) -> None:
    """A reload is asked for by POST or PUT, where it is allowed, and tells what came of it."""
    asked = []

    async def reload() -> str | None:
        asked.append(1)
        return problem

    made = replace(pages(), reload=reload)
    async with serving(made, door=Door(HERE, lifecycle=lifecycle)) as address:
        answers = [await fetch(address, "/-/reload", method) for method in ("POST", "PUT")]
        read = await fetch(address, "/-/reload")

    assert [(each.status, each.body) for each in answers] == [expected] * 2
    assert read.status == 405
    assert len(asked) == (2 if lifecycle else 0)
