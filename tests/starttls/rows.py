"""The real servers that turn to TLS, one row each."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from exporter.model.target import Address, StartTls
from tests.servers import dovecot, exim, mariadb, postgresql, slapd, vsftpd
from tests.servers.process import Server

EXIM_INSTALLABLE = pytest.mark.skipif(exim.is_displaced(), reason="another mail server is installed in Exim's place")


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of server.

    Attributes:
        program: without which it cannot be started.
        settings: makes them from a leaf, and from `tls`, which says whether it is to offer TLS.
        resumes: whether it takes its own sessions back.
    """

    name: str
    starttls: StartTls
    program: str
    start: Callable[[Path, Address, Any], Server]
    settings: Callable[..., Any]
    resumes: bool


ROWS = (
    Row("Exim", StartTls.SMTP, "exim4", exim.start, exim.Settings, resumes=True),
    Row(
        "Exim, no resumption",
        StartTls.SMTP,
        "exim4",
        exim.start,
        partial(exim.Settings, resumption=False),
        resumes=False,
    ),
    Row(
        "Dovecot IMAP",
        StartTls.IMAP,
        "dovecot",
        dovecot.start,
        partial(dovecot.Settings, connections=0),
        resumes=True,
    ),
    Row(
        "Dovecot POP3",
        StartTls.POP3,
        "dovecot",
        dovecot.start,
        partial(dovecot.Settings, protocol="pop3", connections=0),
        resumes=True,
    ),
    Row(
        "Dovecot IMAP, a process for each connection",
        StartTls.IMAP,
        "dovecot",
        dovecot.start,
        dovecot.Settings,
        resumes=False,
    ),
    Row("vsftpd", StartTls.FTP, "vsftpd", vsftpd.start, vsftpd.Settings, resumes=True),
    Row("slapd", StartTls.LDAP, "slapd", slapd.start, slapd.Settings, resumes=False),
    Row("PostgreSQL", StartTls.POSTGRESQL, postgresql.PROGRAM, postgresql.start, postgresql.Settings, resumes=False),
    Row("MariaDB", StartTls.MYSQL, "mariadbd", mariadb.start, mariadb.Settings, resumes=True),
)


def params(rows: tuple[Row, ...]) -> list[Any]:
    """Return rows as a test's parameters, with their names for ids and their programs for marks."""
    return [pytest.param(row, id=row.name, marks=marks(row)) for row in rows]


def marks(row: Row) -> list[pytest.MarkDecorator]:
    """Return what says when a test with this row is skipped."""
    needed = pytest.mark.servers(row.program)
    return [needed, EXIM_INSTALLABLE] if row.program == "exim4" else [needed]
