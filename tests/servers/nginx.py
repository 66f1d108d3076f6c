"""nginx, with a master of its own that can be reloaded."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program

_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What nginx is told.

    Attributes:
        ticket_keys: files for ssl_session_ticket_key, the first of which encrypts.
        tickets: ssl_session_tickets; without them TLS 1.3 still gives tickets, which only name a cached session.
        cache: ssl_session_cache in nginx's words: off, none, builtin, shared:NAME:SIZE.
        session_seconds: ssl_session_timeout, which is the tickets' lifetime hint, too.
        listen: more words for the listen directive, such as http2.
        server: more directives for the server block.
        http: more directives for the http block.
    """

    leaf: Leaf
    ticket_keys: tuple[Path, ...] = ()
    tickets: bool = True
    cache: str = "none"
    session_seconds: int = 300
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)
    workers: int = 1
    listen: str = ""
    server: str = ""
    http: str = ""


class Nginx(Server):
    """A master and its workers."""

    def __init__(self, folder: Path, address: Address, settings: Settings) -> None:
        self._configuration = folder / "nginx.conf"
        self._configuration.write_text(_configuration(folder, address, settings))
        command = (find_program("nginx"), "-p", str(folder), "-e", "stderr", "-c", str(self._configuration))
        super().__init__(address, command, folder, children=settings.workers)

    def reload(self, settings: Settings) -> None:
        """Take new settings, and wait until only new workers are left; connections that were open have ended then.

        Raises:
            ServerError: nginx refused the settings, or the old workers stayed.
        """
        self._configuration.write_text(_configuration(self.folder, self.address, settings))
        self.replace_children(signal.SIGHUP)


def start(folder: Path, address: Address, settings: Settings) -> Nginx:
    """Run nginx in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    return Nginx(folder, address, settings)


def _configuration(folder: Path, address: Address, settings: Settings) -> str:
    keys = "".join(f"ssl_session_ticket_key {file};\n" for file in settings.ticket_keys)
    places = "".join(f"{kind}_temp_path {folder / kind};\n" for kind in _TEMPORARY)
    return f"""\
{"user root;" if os.geteuid() == 0 else ""}  # the tests' folders belong to their user alone
daemon off;
pid {folder / "nginx.pid"};
error_log stderr info;
worker_processes {settings.workers};
worker_shutdown_timeout 1s;
events {{ worker_connections 1024; }}
http {{
access_log off;
{places}{settings.http}
server {{
listen {address} ssl {settings.listen};
server_name _;
ssl_certificate {settings.leaf.certificate_file};
ssl_certificate_key {settings.leaf.key_file};
ssl_protocols {" ".join(f"TLSv{version}" for version in settings.versions)};
ssl_session_cache {settings.cache};
ssl_session_timeout {settings.session_seconds}s;
ssl_session_tickets {"on" if settings.tickets else "off"};
{keys}{settings.server}
location / {{ return 200 "nginx\\n"; }}
}}
}}
"""
