"""MariaDB, with no data but its own accounts, and those only where they are asked for."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from exporter.model.target import Address, TlsVersion
from tests.servers.certificates import Leaf
from tests.servers.process import Server, find_program

_SCRIPTS = Path("/usr/share/mysql")
_SYSTEM_TABLES = ("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql")
_SETUP_SECONDS = 60
_ACCOUNT = (  # it may log in from anywhere, since hosts without any account are turned away at once
    """insert into mysql.global_priv values ('%','app','{"access":0,"plugin":"mysql_native_password","""
    """"authentication_string":"*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19"}');\n"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What MariaDB is told.

    Attributes:
        tls: whether it offers TLS.
        accounts: whether it knows who may log in, which takes a second; without, everybody may.
        options: more of its own, such as --max-connect-errors=5.
    """

    leaf: Leaf
    tls: bool = True
    accounts: bool = False
    versions: tuple[TlsVersion, ...] = (TlsVersion.TLS12, TlsVersion.TLS13)
    options: tuple[str, ...] = ()


def start(folder: Path, address: Address, settings: Settings) -> Server:
    """Run MariaDB in this folder, which is made where it is missing."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    words = [find_program("mariadbd"), "--no-defaults", f"--datadir={data}"]
    if os.geteuid() == 0:
        words.append("--user=root")
    if settings.accounts:
        _write_accounts(words)
    else:
        words += ["--skip-grant-tables", "--skip-innodb", "--default-storage-engine=Aria"]
    words += [
        "--socket=socket",  # below the data folder, whose full path may be over a socket's 107 bytes
        "--pid-file=pid",
        f"--bind-address={address.host}",
        f"--port={address.port}",
        *(_tls(settings) if settings.tls else ["--skip-ssl"]),
        *settings.options,
    ]
    return Server(address, words, folder)


def _tls(settings: Settings) -> list[str]:
    return [
        f"--ssl-cert={settings.leaf.certificate_file}",
        f"--ssl-key={settings.leaf.key_file}",
        f"--tls-version={','.join(f'TLSv{version}' for version in settings.versions)}",
    ]


def _write_accounts(words: list[str]) -> None:
    """Write the system's tables, with one account."""
    script = "\n".join(
        [
            "create database mysql;",
            "use mysql;",
            "set @auth_root_socket=NULL;",
            *((_SCRIPTS / name).read_text() for name in _SYSTEM_TABLES),
            _ACCOUNT,
        ]
    )
    setup = [*words, "--bootstrap", "--enforce-storage-engine="]
    subprocess.run(setup, input=script.encode(), check=True, timeout=_SETUP_SECONDS, capture_output=True)
