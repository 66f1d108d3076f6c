"""The exporter that watches the fleet: a real one, in a process of its own, with a configuration that can be read."""

import contextlib
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.demo.story import Pace, Sight
from exporter.model.target import Address, TlsVersion
from exporter.model.verdicts import TargetState
from exporter.reference.launch import end

NAME, SERVER_NAME = "shop", "shop.example.com"
_ASK_SECONDS = 5.0
_START_SECONDS = 20.0
_END_SECONDS = 3.0
_BREAKS = "tlsprobe_ticket_key_breaks_total{"
# Run with -P, so that the folder that we were started in cannot put other modules in our place.
# It ends in order when its input does: that is when we end, however that comes about.
_COMMAND = """\
import os, signal, sys, threading
threading.Thread(target=lambda: os.read(0, 1) or os.kill(os.getpid(), signal.SIGTERM), daemon=True).start()
from exporter.cli import main
sys.exit(main())
"""


class ExhibitError(OSError):
    """The exporter does not start, or has ended."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A running exporter; `url` leads to its root, without a slash at the end."""

    url: str

    @property
    def page(self) -> str:
        """Where the fleet is shown."""
        return f"{self.url}/targets/{NAME}"

    def look(self) -> Sight:
        """Return what the exporter says of the fleet.

        Raises:
            ExhibitError: it does not answer.
        """
        document: dict[str, Any] = json.loads(self._ask(f"/api/v1/targets/{NAME}"))
        versions = document["versions"]
        counts = [line for line in self._ask("/metrics").splitlines() if line.startswith(_BREAKS)]
        return Sight(
            states={TlsVersion(each["tls"]): TargetState(each["state"]) for each in versions},
            odd=frozenset(backend for each in versions for backend in each["odd_backends"]),
            breaks=sum(int(float(line.rpartition(" ")[2])) for line in counts if f'target="{NAME}"' in line),
        )

    def _ask(self, path: str) -> str:
        try:
            with urllib.request.urlopen(self.url + path, timeout=_ASK_SECONDS) as answer:  # noqa: S310 -- it is http:
                text: str = answer.read().decode()
        except OSError as error:
            raise ExhibitError(f"{self.url}{path}: {error}") from error
        return text


def write_configuration(folder: Path, listen: Address, backends: Sequence[Address], ca: str, pace: Pace) -> Path:
    """Write what the exporter reads, and return the file."""
    (folder / "ca.pem").write_text(ca)
    document = {
        "listen": [str(listen)],
        "defaults": {"interval": f"{pace.interval:g}s", "timeout": f"{pace.interval / 2:g}s"},
        "ticket_keys": {"grace": f"{pace.grace:g}s"},
        "targets": [
            {
                "name": NAME,
                "labels": {"team": "demonstration"},
                "address": str(backends[0]),
                "server_name": SERVER_NAME,
                "backends": [str(backend) for backend in backends],
                "tls": {"ca_file": "ca.pem"},
                "expect": {"min_backends": len(backends)},
            }
        ],
        "reference": {"interval": "10s"},
    }
    file = folder / "config.yaml"
    file.write_text(json.dumps(document, indent=2) + "\n")  # YAML holds all of JSON
    return file


@contextlib.contextmanager
def start(folder: Path, configuration: Path, listen: Address) -> Iterator[Exhibit]:
    """Run the exporter until the block ends; its log goes to a file in the folder.

    Raises:
        ExhibitError: it does not start.
    """
    log = folder / "tlsprobe.log"
    with log.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 -- all words are our own
            (sys.executable, "-P", "-c", _COMMAND, "run", "--config", str(configuration)),
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=file,
        )
    exhibit = Exhibit(f"http://{listen}")
    try:
        _await_answer(exhibit, process, log)
        yield exhibit
    finally:
        process.terminate()
        end(process, _END_SECONDS)


def _await_answer(exhibit: Exhibit, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            exhibit.look()
        except ExhibitError:
            time.sleep(0.1)
        else:
            return
    raise ExhibitError(f"the exporter does not start:\n{log.read_text(errors='replace')[-2000:]}")
