"""A server that sends back whatever comes, after a pause: `python -m tests.link.echo HOST PAUSE_SECONDS`.

Prints its port, and ends when its standard input closes.
"""

import socket
import sys
import threading
import time


def _serve(listening: socket.socket, pause: float) -> None:
    while True:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            while data := connection.recv(4096):
                time.sleep(pause)
                connection.sendall(data)


def main() -> None:
    """Serve one connection after another until nobody needs it any more."""
    host, pause = sys.argv[1:]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listening:
        print(listening.getsockname()[1], flush=True)
        threading.Thread(target=_serve, args=(listening, float(pause)), daemon=True).start()
        sys.stdin.read()


if __name__ == "__main__":
    main()
