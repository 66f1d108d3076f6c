"""HAProxy, whose ticket keys can be rotated over its socket."""

import base64
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program

_COMMAND_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What HAProxy is told.

    Attributes:
        ticket_keys: at least three keys of one size; the last but one encrypts, so that the last is known everywhere
            before it is used. None makes a key in the process.
        tickets: without them sessions are cached; TLS 1.3 still gives tickets, which only name a cached session.
        bind: more words for the bind line, such as allow-0rtt.
        frontend: more lines for the frontend.
    """

    leaf: Leaf
    ticket_keys: tuple[bytes, ...] = ()
    tickets: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)
    bind: str = ""
    frontend: str = ""


class Haproxy(Server):
    """One process without a master."""

    def push_ticket_key(self, key: bytes) -> None:
        """Add a key behind the last one, as `set ssl tls-key` does: the one that was last encrypts from now on.

        Raises:
            OSError: the socket did not answer.
            ValueError: HAProxy refused the key.
        """
        answer = self.command(f"set ssl tls-key {self.folder / 'ticket.keys'} {base64.b64encode(key).decode()}")
        if "updated" not in answer:
            raise ValueError(answer)

    def command(self, line: str) -> str:
        """Send a command to the administration socket and return its answer.

        Raises:
            OSError: the socket did not answer.
        """
        folder = os.open(self.folder, os.O_PATH)
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_COMMAND_SECONDS)
                connection.connect(f"/proc/self/fd/{folder}/admin.sock")  # the full path may be over its 107 bytes
                connection.sendall(line.encode() + b"\n")
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        finally:
            os.close(folder)


def start(folder: Path, address: Address, settings: Settings) -> Haproxy:
    """Run HAProxy in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = folder / "ticket.keys"
    keys.write_text("".join(base64.b64encode(key).decode() + "\n" for key in settings.ticket_keys))
    configuration = folder / "haproxy.cfg"
    configuration.write_text(_configuration(address, settings, keys))
    return Haproxy(address, (find_program("haproxy"), "-db", "-f", str(configuration)), folder)


def _configuration(address: Address, settings: Settings, keys: Path) -> str:
    words = [
        f"bind {address.host}:{address.port} ssl crt {settings.leaf.combined_file}",
        f"ssl-min-ver TLSv{min(settings.versions)} ssl-max-ver TLSv{max(settings.versions)}",
        f"tls-ticket-keys {keys}" if settings.ticket_keys else "",
        "" if settings.tickets else "no-tls-tickets",
        settings.bind,
    ]
    return f"""\
global
    stats socket unix@admin.sock level admin
    nbthread 1
    log stdout format raw local0
defaults
    mode http
    timeout client 10s
    timeout server 10s
    timeout connect 10s
frontend site
    {" ".join(words)}
    {settings.frontend}
    http-request return status 200 content-type text/plain string "haproxy"
"""
