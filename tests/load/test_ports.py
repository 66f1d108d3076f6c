"""Running out of ports, in a network namespace that has few of them."""

import subprocess
import sys

import pytest

from tests.servers.process import MissingProgramError, find_program

_PORTS, _CONNECTIONS = 16, 40
_CODE = f"""
import socket
from pathlib import Path
from exporter.load.entrance import Entrance
from exporter.load.orders import Site
Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 {40000 + _PORTS - 1}")
with socket.create_server(("127.0.0.1", 5000), backlog=100):
    entrance = Entrance(Site("127.0.0.1", 5000, "site.test"))
    held = [entrance.open() for _ in range({_CONNECTIONS})]
    print(len(held), *sorted({{opened.getsockname()[0] for opened in held}}))
"""


def in_namespace(*command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command where there is nothing but a loopback device of its own, or skip the test."""
    try:
        alone = [
            find_program("unshare"),
            "--map-root-user",
            "--net",
            "sh",
            "-c",
            'ip link set lo up && exec "$@"',
            "sh",
        ]
        find_program("ip")
    except MissingProgramError as error:
        pytest.skip(str(error))
    tried = subprocess.run([*alone, "true"], check=False, capture_output=True, timeout=20)
    if tried.returncode:
        pytest.skip("namespaces are not allowed here")
    return subprocess.run([*alone, *command], check=False, capture_output=True, text=True, timeout=60)


def test_other_addresses_are_taken() -> None:
    """When the ports of one loopback address are used up, connections come from the next."""
    done = in_namespace(sys.executable, "-c", _CODE)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(_CONNECTIONS), "127.0.0.1", "127.0.1.1", "127.0.1.2"]
