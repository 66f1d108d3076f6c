"""Where the web side is found, by what lock, and by what URL."""

import re
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from exporter.config.problem import RefusedError, show
from exporter.web.lock import OPEN, Lock

_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@-]+)*")
_AUTHORITY = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]+)(?::[0-9]{1,5})?")
_URL_FORMS = "http:// or https://, a host, and a port and a path where there are any"
_PREFIX_FORMS = "a path such as /tlsprobe"


@dataclass(frozen=True, slots=True)
class Door:
    """All that is set about the web side.

    Attributes:
        listen: `HOST:PORT`, `[IPV6]:PORT`, `:PORT` for all interfaces, or `unix:/PATH`.
        sockets: that listen already; where there are any, `listen` is not looked at.
        health: where health and readiness are told besides, plainly and to everybody, in the same forms.
        lock: who may come in.
        lock_file: what it was read from, and is read from again when it has changed.
        prefix: in front of every path, empty or such as `/tlsprobe`.
        external_url: how people reach us, without a slash at its end; None where nobody has said.
        lifecycle: whether `/-/reload` does anything.
    """

    listen: tuple[str, ...] = (":10507",)
    sockets: tuple[socket.socket, ...] = ()
    health: tuple[str, ...] = ()
    lock: Lock = OPEN
    lock_file: Path | None = None
    prefix: str = ""
    external_url: str | None = None
    lifecycle: bool = False

    @property
    def external_path(self) -> str:
        """The path at which people reach us: the external URL's, since a proxy may take it away, or the prefix."""
        return self.prefix if self.external_url is None else urlsplit(self.external_url).path


def parse_external_url(text: str) -> str:
    """Return a URL without the slash at its end.

    Raises:
        RefusedError: it is none, or has a user, a query or a fragment.
    """
    url = text.rstrip("/")
    try:
        scheme, authority, path, query, fragment = urlsplit(url)
    except ValueError:
        raise RefusedError(f"{show(text)} is no URL", _URL_FORMS) from None
    plain = scheme in {"http", "https"} and not query and not fragment and "?" not in url and "#" not in url
    if not plain or not _AUTHORITY.fullmatch(authority) or not _PATH.fullmatch(path):
        raise RefusedError(f"{show(text)} is no URL that pages can have", _URL_FORMS)
    return url


def parse_prefix(text: str) -> str:
    """Return a path with a slash in front and none at its end; that of the root is empty.

    Raises:
        RefusedError: it holds what cannot stand in a path, or has to be percent-encoded there.
    """
    bare = text.strip("/")
    prefix = f"/{bare}" if bare else ""
    if not _PATH.fullmatch(prefix) or {".", ".."} & set(prefix.split("/")):
        raise RefusedError(f"{show(text)} is no path", _PREFIX_FORMS)
    return prefix
