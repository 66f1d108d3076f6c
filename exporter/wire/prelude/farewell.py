"""The last words within TLS, so that a server does not take us for a client that broke off."""

from collections.abc import Mapping
from types import MappingProxyType

from exporter.model.target import StartTls
from exporter.wire.prelude.mysql import LOGIN

_FAREWELLS: Mapping[StartTls, bytes] = MappingProxyType(
    {
        StartTls.SMTP: b"QUIT\r\n",
        StartTls.IMAP: b"a3 LOGOUT\r\n",
        StartTls.POP3: b"QUIT\r\n",
        StartTls.FTP: b"QUIT\r\n",
        StartTls.LDAP: bytes.fromhex("30 05 020102 4200"),  # UnbindRequest (RFC 4511 section 4.3)
        StartTls.POSTGRESQL: b"",  # before its startup message nothing else may be said, and hanging up is not noted
        # Without an attempt to log in, however it ends, MySQL and MariaDB count a connection error, and after
        # max_connect_errors of them, 100 by default, they lock out all clients of our address.
        StartTls.MYSQL: LOGIN,
    }
)


def last_words(starttls: StartTls | None) -> bytes:
    """Return what to send behind the handshake, as application data ahead of close_notify; b"" where nothing is usual.

    No answer need be awaited.
    """
    return b"" if starttls is None else _FAREWELLS[starttls]
