"""vsftpd, an FTP server."""

from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What vsftpd is told.

    Attributes:
        tls: whether it knows AUTH TLS.
    """

    leaf: Leaf
    tls: bool = True


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run vsftpd in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "vsftpd.conf"
    configuration.write_text(_configuration(address, settings))
    return Server(address, (find_program("vsftpd"), str(configuration)), folder)


def _configuration(address: Address, settings: Settings) -> str:
    over_ipv6 = ":" in address.host
    return f"""\
background=NO
listen={"NO" if over_ipv6 else "YES"}
listen_ipv6={"YES" if over_ipv6 else "NO"}
listen_address{"6" if over_ipv6 else ""}={address.host}
listen_port={address.port}
run_as_launching_user=YES
anonymous_enable=YES
seccomp_sandbox=NO
ssl_enable={"YES" if settings.tls else "NO"}
rsa_cert_file={settings.leaf.certificate_file}
rsa_private_key_file={settings.leaf.key_file}
"""
