"""A client that asks an echo server: `python -m tests.link.ask HOST PORT COUNT`; prints what it saw as JSON."""

import json
import socket
import struct
import sys
import time

_RTT, _MIN_RTT = 68, 148  # offsets in struct tcp_info (linux/tcp.h), both microseconds
_TIMEOUT = 10.0


def _read_tcp_info(connection: socket.socket, offset: int) -> float:
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return float(struct.unpack_from("=I", info, offset)[0]) / 1e6


def main() -> None:
    """Connect, ask so many times and tell all times in seconds."""
    host, port, count = sys.argv[1:]
    with socket.create_connection((host, int(port)), timeout=_TIMEOUT) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        seen: dict[str, object] = {"port": connection.getsockname()[1], "connect": _read_tcp_info(connection, _RTT)}
        trips = []
        for _ in range(int(count)):
            began = time.perf_counter()
            connection.sendall(b"x")
            connection.recv(1)
            trips.append(time.perf_counter() - began)
        print(json.dumps(seen | {"trips": trips, "min_rtt": _read_tcp_info(connection, _MIN_RTT)}))


if __name__ == "__main__":
    main()
