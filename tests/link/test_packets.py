"""What the packet log tells of a server."""

import pytest

from tests.link.packets import Packet, TcpFlag, server_times

PORT = 50000


def packet(taken: float, put: float, *, to_server: bool, payload: int = 10, port: int = PORT) -> Packet:
    """Make a packet of one connection."""
    return Packet(taken, put, to_server, 4, port, 443, TcpFlag.ACK, payload)


@pytest.mark.parametrize(
    ("packets", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param(
            [packet(0, 20, to_server=True), packet(23, 43, to_server=False)],
            [3],
            id="one answer",
        ),
        pytest.param(
            [
                packet(0, 20, to_server=True),
                packet(1, 21, to_server=True),
                packet(23, 43, to_server=False),
                packet(24, 44, to_server=False),
            ],
            [2],
            id="from the last piece of the question to the first of the answer",
        ),
        pytest.param(
            [
                packet(0, 20, to_server=True),
                packet(20.5, 40.5, to_server=False, payload=0),
                packet(25, 45, to_server=False),
            ],
            [5],
            id="an acknowledgement alone is no answer",
        ),
        pytest.param(
            [packet(0, 20, to_server=True), packet(21, 41, to_server=False, port=1), packet(22, 42, to_server=False)],
            [2],
            id="another connection",
        ),
        pytest.param(
            [
                packet(0, 20, to_server=True),
                packet(21, 41, to_server=False),
                packet(41, 61, to_server=True),
                packet(65, 85, to_server=False),
            ],
            [1, 4],
            id="two waits",
        ),
        pytest.param([packet(5, 25, to_server=False)], [], id="the server speaks first"),
    ],
)
def test_server_times(packets: list[Packet], expected: list[float]) -> None:
    """A server's time runs at its own side of the link."""
    assert expected == list(server_times(packets, PORT))
