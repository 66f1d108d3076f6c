"""Listening sockets."""

import socket
from pathlib import Path

import pytest

from exporter.model.target import Address
from exporter.web.listen import ListenError, address_of, close_listeners, open_listeners, socket_files, spell


def tcp_address(listener: socket.socket) -> Address:
    """Return the address of a socket that has one."""
    address = address_of(listener)
    assert address is not None
    return address


@pytest.mark.parametrize(
    ("place", "host"),
    [
        pytest.param("127.0.0.1:0", "127.0.0.1", id="IPv4"),
        pytest.param("[::1]:0", "::1", id="IPv6"),
        pytest.param(":0", "::" if socket.has_dualstack_ipv6() else "0.0.0.0", id="all interfaces"),
    ],
)
async def test_places(place: str, host: str) -> None:
    """A place is a socket that listens, with a port of its own where none was asked for."""
    (listener,) = await open_listeners([place])
    with listener:
        address = tcp_address(listener)
        assert address.host == host
        assert address.port > 0


async def test_a_name() -> None:
    """A name is every address that it stands for."""
    listeners = await open_listeners(["localhost:0"])
    hosts = {tcp_address(each).host for each in listeners}
    for each in listeners:
        each.close()

    assert "127.0.0.1" in hosts
    assert hosts <= {"127.0.0.1", "::1"}


async def test_all_interfaces_take_ipv4_and_ipv6() -> None:
    """One port without a host serves both families."""
    (listener,) = await open_listeners([":0"])
    with listener:
        port = tcp_address(listener).port
        for host in ("127.0.0.1", "::1"):
            with socket.create_connection((host, port), timeout=5):
                pass


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("", id="nothing"),
        pytest.param("10507", id="a port alone"),
        pytest.param("localhost", id="a host alone"),
        pytest.param("localhost:http", id="a service"),
        pytest.param("localhost:65536", id="a port too high"),
        pytest.param("localhost:-1", id="a negative port"),
        pytest.param("localhost:٣", id="a digit that is not ASCII"),
        pytest.param("::1:80", id="IPv6 without brackets"),
        pytest.param("[localhost]:80", id="a name in brackets"),
    ],
)
async def test_mistakes(place: str) -> None:
    """What is no place is refused by what was written and what is allowed."""
    with pytest.raises(ListenError) as caught:
        await open_listeners([place])

    assert str(caught.value) == f"cannot listen on {place!r}: not HOST:PORT, [IPV6]:PORT, :PORT or unix:/PATH"


async def test_a_name_that_does_not_exist() -> None:
    """A host that cannot be resolved is told by its place."""
    with pytest.raises(ListenError, match=r"^cannot listen on '..:80': not a host name$"):
        await open_listeners(["..:80"])


async def test_a_port_in_use() -> None:
    """A port that is taken is told by its place, and the sockets opened before it are given back."""
    (taken,) = await open_listeners(["127.0.0.1:0"])
    with taken:
        place = spell(taken)
        neighbour = place.replace("127.0.0.1", "127.0.0.2")
        with pytest.raises(ListenError, match=f"^cannot listen on '{place}': Address already in use$"):
            await open_listeners([neighbour, place])
        (again,) = await open_listeners([neighbour])
        again.close()


async def test_a_socket_file(tmp_path: Path) -> None:
    """A path is a socket file, which is there for as long as it is listened on."""
    path = tmp_path / "web.sock"
    listeners = await open_listeners([f"unix:{path}"])
    assert [(spell(each), address_of(each)) for each in listeners] == [(f"unix:{path}", None)]
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(path))
    await close_listeners(listeners, socket_files(listeners))

    assert not path.exists()


async def test_a_socket_file_left_behind(tmp_path: Path) -> None:
    """A socket file on which nobody listens any more is taken away, as a process that was killed leaves it."""
    path = tmp_path / "web.sock"
    with socket.socket(socket.AF_UNIX) as earlier:
        earlier.bind(str(path))
        earlier.listen()
    listeners = await open_listeners([f"unix:{path}"])
    await close_listeners(listeners, socket_files(listeners))

    assert not path.exists()


async def test_a_socket_file_in_use(tmp_path: Path) -> None:
    """A socket file on which somebody listens is left alone."""
    place = f"unix:{tmp_path / 'web.sock'}"
    listeners = await open_listeners([place])
    with pytest.raises(ListenError, match=f"^cannot listen on '{place}': Address already in use$"):
        await open_listeners([place])
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(tmp_path / "web.sock"))
    await close_listeners(listeners, socket_files(listeners))


async def test_a_file_that_is_no_socket(tmp_path: Path) -> None:
    """Any other file is left alone too."""
    path = tmp_path / "web.sock"
    path.write_text("mine")
    with pytest.raises(ListenError, match="Address already in use"):
        await open_listeners([f"unix:{path}"])

    assert path.read_text() == "mine"
