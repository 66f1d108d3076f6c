"""Exim, a mail server, as Debian builds it: with GnuTLS."""

from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import SERVER_NAME, Leaf
from tests.servers.lodging import Lodger, Lodging
from tests.servers.process import MissingProgramError, find_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What Exim is told.

    Attributes:
        tls: whether it offers STARTTLS.
        resumption: whether it gives tickets and takes them back.
        greeting: what the greeting's first ACL says, such as `deny` for a 5xx.
    """

    leaf: Leaf
    tls: bool = True
    resumption: bool = True
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)
    greeting: str = "accept"


def is_displaced() -> bool:
    """Tell whether another mail server is installed, in whose place Debian would put Exim."""
    try:
        find_program("sendmail")
    except MissingProgramError:
        return False
    try:
        find_program("exim4")
    except MissingProgramError:
        return True
    return False


def start(folder: Path, address: Address, settings: Settings) -> Lodger:
    """Run Exim's daemon; its log is in this folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    lodging = Lodging()
    lodging.make_folder("spool")
    leaf = [lodging.adopt(file) for file in (settings.leaf.certificate_file, settings.leaf.key_file)]
    configuration = lodging.write("exim.conf", _configuration(lodging, address, settings, leaf))
    return Lodger(address, (find_program("exim4"), "-C", str(configuration), "-bdf"), folder, lodging)


def _configuration(lodging: Lodging, address: Address, settings: Settings, leaf: list[Path]) -> str:
    spool = lodging.folder / "spool"
    versions = "".join(f":+VERS-TLS{version}" for version in settings.versions)
    everybody = {True: "*", False: ""}
    host = address.host.replace(":", "::")
    return f"""\
primary_hostname = {SERVER_NAME}
local_interfaces = {host}
daemon_smtp_ports = {address.port}
spool_directory = {spool}
pid_file_path = {spool / "pid"}
log_file_path = {spool / "%slog"}
exim_user = {lodging.account}
exim_group = {lodging.group}
keep_environment =
host_lookup =
rfc1413_hosts =
tls_advertise_hosts = {everybody[settings.tls]}
tls_resumption_hosts = {everybody[settings.resumption]}
tls_certificate = {leaf[0]}
tls_privatekey = {leaf[1]}
tls_require_ciphers = NORMAL:-VERS-ALL{versions}
acl_smtp_connect = greet
begin acl
greet:
  {settings.greeting}
"""
