"""The least that Python can do for the same result: `python -m tests.bench.bare HOST PORT CA_FILE`.

A blocking socket, the standard library's ssl, the same request, and nothing measured, kept or judged.
"""

import random
import socket
import ssl
import sys
import time

from exporter.model.target import Address
from tests.bench.turn import Taken, Turn, read_turn, write_line
from tests.servers.certificates import SERVER_NAME

_REQUEST = f"GET / HTTP/1.1\r\nHost: {SERVER_NAME}\r\nUser-Agent: bare\r\nAccept: */*\r\n\r\n".encode()


def take_turn(context: ssl.SSLContext, address: Address, turn: Turn) -> Taken:
    """Connect as often and as fast as told."""
    durations = []
    began = time.process_time()
    for pause, due in turn.waits(random.Random(1), time.monotonic()):  # noqa: S311 - no secret hangs on a pause
        time.sleep(max(pause, due - time.monotonic(), 0.0))
        with socket.create_connection((address.host, address.port), 5) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            started = time.monotonic()
            with context.wrap_socket(sock, server_hostname=SERVER_NAME) as tls:
                durations.append(time.monotonic() - started)
                if turn.http:
                    ask(tls)
    cpu = time.process_time() - began
    return Taken(tuple(durations), tuple(durations), cpu)


def ask(tls: ssl.SSLSocket) -> None:
    """Send the request and read the answer to its end."""
    tls.sendall(_REQUEST)
    answer = tls.recv(65536)
    while b"\r\n\r\n" not in answer:
        answer += tls.recv(65536)
    head, _, body = answer.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    while len(body) < size:
        body += tls.recv(65536)


def serve(address: Address, ca_file: str) -> None:
    """Take turns until the input ends."""
    context = ssl.create_default_context(cafile=ca_file)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["http/1.1"])
    while line := sys.stdin.buffer.readline():
        sys.stdout.buffer.write(write_line(take_turn(context, address, read_turn(line))))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve(Address(sys.argv[1], int(sys.argv[2])), sys.argv[3])
