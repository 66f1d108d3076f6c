"""OpenLDAP's server, as Debian builds it: with GnuTLS."""

from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What slapd is told.

    Attributes:
        tls: whether it knows StartTLS.
    """

    leaf: Leaf
    tls: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run slapd without a database, in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "slapd.conf"
    configuration.write_text(_tls(settings) if settings.tls else "\n")
    command = (find_program("slapd"), "-d", "0", "-h", f"ldap://{address}", "-f", str(configuration))
    return Server(address, command, folder)


def _tls(settings: Settings) -> str:
    versions = "".join(f":+VERS-TLS{version}" for version in settings.versions)
    return f"""\
TLSCertificateFile {settings.leaf.certificate_file}
TLSCertificateKeyFile {settings.leaf.key_file}
TLSCipherSuite NORMAL:-VERS-ALL{versions}
"""
