"""HTTP over bytes in memory: requests one after the other on a connection that somebody else holds."""

from typing import Protocol

from exporter.model.failure import Failure, Reason, Stage
from exporter.model.target import HttpSettings
from exporter.wire.http1 import Http1
from exporter.wire.progress import HttpProgress

__all__ = ["Conversation", "HttpProgress", "converse", "unexpected_status"]


class Conversation(Protocol):
    """What both versions of HTTP have in common."""

    @property
    def asked(self) -> int:
        """How many requests were made."""

    def ask(self, path: str | None = None) -> bytes:
        """Return the bytes of the next request, all at once.

        Args:
            path: what to GET instead of the settings' request; no more than their `large_bytes` is read of it.

        Raises:
            RuntimeError: an answer is due, or no request may follow.
            ValueError: the path makes no valid request.
        """

    def receive(self, data: bytes) -> HttpProgress:
        """Take bytes from the peer, also while no answer is due."""

    def receive_eof(self) -> HttpProgress:
        """Take the end of the peer's bytes."""


def converse(alpn: str, settings: HttpSettings, server_name: str, port: int, *, user_agent: str) -> Conversation:
    """Begin a conversation over the protocol that was agreed on.

    Args:
        alpn: the protocol's name; all but "h2" are HTTP/1.1.
        settings: what to ask for.
        server_name: the host to name where the settings have none.
        port: named with it where it is not 443.
        user_agent: says who asks.

    Raises:
        ValueError: method, path or headers make no valid request.
    """
    if alpn == "h2":
        from exporter.wire.http2 import Http2  # noqa: PLC0415 - h2 is memory that most daemons never need

        return Http2(settings, server_name, port, user_agent=user_agent)
    return Http1(settings, server_name, port, user_agent=user_agent)


def unexpected_status(settings: HttpSettings, status: int) -> Failure | None:
    """Return the failure that a status is which the settings do not expect; None where it is expected."""
    if not settings.expect_status or status in settings.expect_status:
        return None
    wanted = " or ".join(map(str, settings.expect_status))
    return Failure(Stage.HTTP, Reason.UNEXPECTED_STATUS, f"{status} instead of {wanted}")
