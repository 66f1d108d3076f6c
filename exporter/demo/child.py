"""The process that serves the fleet: what it is to do comes on standard input, and it lives until that closes."""

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from exporter.demo.backend import Backend
from exporter.demo.keyring import Key, Keyring, draw_key

_ATTEMPTS = 32


def main() -> None:
    """Serve until the parent closes our standard input, which it also does by dying."""
    lines = _read_lines()
    begin = next(lines, None)
    if begin is None:
        return
    keys: dict[str, Key] = {}

    def find(name: str) -> Key:
        if name not in keys:
            keys[name] = draw_key(begin["pem"])
        return keys[name]

    backends = _serve(begin["hosts"], Keyring(find(begin["key"])))
    _tell({"addresses": [backend.server_address for backend in backends]})
    for order in lines:
        keyring = Keyring(find(order["issues"]), tuple(find(name) for name in order["accepts"]))
        backends[order["backend"]].keyring = keyring
        _tell({"done": True})
    os._exit(0)  # at once: the threads hold nothing that must be put away


def _serve(hosts: list[str], keyring: Keyring) -> list[Backend]:
    """Listen on one port of all hosts; raise OSError where no port is free on all of them."""
    for _ in range(_ATTEMPTS):
        backends = [Backend(hosts[0], 0, keyring)]
        try:
            backends += [Backend(host, backends[0].server_address[1], keyring) for host in hosts[1:]]
        except OSError:  # somebody has that port on another of them
            backends[0].server_close()
            continue
        for backend in backends:
            threading.Thread(target=backend.serve_forever, daemon=True).start()
        return backends
    raise OSError(f"no port is free on {', '.join(hosts)}")


def _read_lines() -> Iterator[Mapping[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def _tell(answer: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
