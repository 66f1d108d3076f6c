"""The table of dialogues in clear that lead to TLS."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from exporter.model.target import Endpoint, StartTls
from exporter.wire.prelude import lines, mysql, packets
from exporter.wire.prelude.conversation import Conversation, Waiting

Dialogue = Callable[[Conversation, Endpoint], Waiting[None]]
"""Asks for TLS, as one that comes from the given end of a socket; returns when TLS is to begin."""

DIALOGUES: Mapping[StartTls, Dialogue] = MappingProxyType(
    {
        StartTls.SMTP: lines.smtp,
        StartTls.IMAP: lines.imap,
        StartTls.POP3: lines.pop3,
        StartTls.FTP: lines.ftp,
        StartTls.LDAP: packets.ldap,
        StartTls.POSTGRESQL: packets.postgresql,
        StartTls.MYSQL: mysql.mysql,
    }
)
