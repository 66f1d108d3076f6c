"""Dovecot, a server of IMAP and POP3."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.lodging import Lodger, Lodging
from tests.servers.process import find_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Dovecot is told.

    Attributes:
        protocol: imap or pop3.
        tls: whether it offers STARTTLS and STLS.
        connections: how many each login process may have; with one each, as by default, none sees another's ticket
            key. 0 is any number.
    """

    leaf: Leaf
    protocol: Literal["imap", "pop3"] = "imap"
    tls: bool = True
    connections: int = 1
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Lodger:
    """Run Dovecot's master; its log is in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    lodging = Lodging()
    lodging.make_folder("run")
    leaf = [lodging.adopt(file) for file in (settings.leaf.certificate_file, settings.leaf.key_file)]
    configuration = lodging.write("dovecot.conf", _configuration(lodging, address, settings, leaf))
    return Lodger(address, (find_program("dovecot"), "-F", "-c", str(configuration)), folder, lodging)


def _configuration(lodging: Lodging, address: Address, settings: Settings, leaf: list[Path]) -> str:
    return f"""\
base_dir = {lodging.folder / "run"}
state_dir = {lodging.folder / "run"}
log_path = /dev/stderr
protocols = {settings.protocol}
default_internal_user = {lodging.account}
default_internal_group = {lodging.group}
default_login_user = {lodging.account}
ssl = {"yes" if settings.tls else "no"}
ssl_cert = <{leaf[0]}
ssl_key = <{leaf[1]}
ssl_min_protocol = TLSv{min(settings.versions)}
passdb {{
  driver = static
  args = password=secret
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
service {settings.protocol}-login {{
  chroot =
  service_count = {settings.connections}
  inet_listener {settings.protocol} {{
    address = {address.host}
    port = {address.port}
  }}
  inet_listener {settings.protocol}s {{
    port = 0
  }}
}}
"""
