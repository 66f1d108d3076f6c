"""What single values mean: durations, addresses, names. Each function raises RefusedError."""

import ipaddress
import math
import re
from typing import Final

import idna

from exporter.config.problem import RefusedError, show
from exporter.model.target import Endpoint

_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
DURATION_PATTERN: Final = (
    rf"^(?=[0-9])(?:{_NUMBER}(?:$(?!\n))|"
    rf"(?:{_NUMBER}d)?(?:{_NUMBER}h)?(?:{_NUMBER}m(?!s))?(?:{_NUMBER}s)?(?:{_NUMBER}ms)?$(?!\n))"
)
_PART = re.compile(rf"({_NUMBER})(ms|[smhd]|)")
_UNIT_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST = 366 * 86400.0

_ADDRESS = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]{1,6}))?")
_DNS_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
UNIX: Final = "unix:"
"""What stands before the path of a socket file to listen on."""
_ADDRESS_FORMS = "HOST:PORT, such as name:443, 10.0.0.1:443 or [::1]:443"
_HOST_FORMS = "a DNS name, or an IP address such as 10.0.0.1 or [::1]"


def parse_duration(raw: float | str) -> float:
    """Return seconds, of a number of them or of a text such as "1h30m"; at most 366 days."""
    if isinstance(raw, str):
        seconds = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(raw))
    else:
        seconds = raw
    if not math.isfinite(seconds) or not 0 <= seconds <= _LONGEST:
        raise RefusedError(f"{spell_duration(raw)} is no usable duration", "0s to 366d")
    return seconds


def spell_duration(raw: float | str) -> str:
    """Return a duration as it was written, a plain number with its unit."""
    return raw if isinstance(raw, str) else f"{raw:g}s"


def parse_endpoint(text: str, default_port: int = 443) -> Endpoint:
    """Return the host, a name in its A-label form or an IP literal without brackets, and the port."""
    host, port = _split(text)
    if not host:
        raise RefusedError(f"{show(text)} has no host", _ADDRESS_FORMS)
    if port == 0:
        raise RefusedError("port 0 is out of range", "1 to 65535")
    return Endpoint(parse_host(host), default_port if port is None else port)


def parse_listen_address(text: str) -> str:
    """Return a listen address in its one normal form: an empty host is all interfaces, port 0 any free one.

    `unix:/PATH` is a socket file (unix(7): a path of up to 107 bytes).
    """
    if text.startswith(UNIX):
        return _socket_file(text)
    host, port = _split(text)
    if port is None:
        raise RefusedError(f"{show(text)} has no port", "HOST:PORT or :PORT, such as :10507")
    return str(Endpoint(parse_host(host) if host else "", port))


def _socket_file(text: str) -> str:
    path = text.removeprefix(UNIX)
    if not path.startswith("/") or "\0" in path or len(path.encode("utf-8", "surrogateescape")) > 107:
        raise RefusedError(f"{show(text)} is no socket file", "unix:/PATH of up to 107 bytes")
    return text


def parse_host(text: str) -> str:
    """Return an IP literal in its shortest form, or a DNS name in lower case with A-labels (RFC 5891)."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    literal = _literal(bare)
    if literal is not None and (":" in bare or bare == text):
        return literal
    return _name(text)


def _literal(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


def _name(text: str) -> str:
    if not text.isascii():
        try:
            text = idna.encode(text, uts46=True).decode("ascii")
        except UnicodeError:
            raise RefusedError(f"{show(text)} is no internationalized name", _HOST_FORMS) from None
    name = text.lower()
    labels = name.removesuffix(".").split(".")
    if len(name) > 254 or not all(map(_DNS_LABEL.fullmatch, labels)):
        raise RefusedError(f"{show(text)} is no host name", _HOST_FORMS)
    if labels[-1].isdecimal():
        raise RefusedError(f"{show(text)} is no IPv4 address", _HOST_FORMS)
    return name


def _split(text: str) -> tuple[str, int | None]:
    match = _ADDRESS.fullmatch(text)
    if match is None:
        if _literal(text) is not None:
            raise RefusedError(f"{show(text)} is an IPv6 address without brackets", _ADDRESS_FORMS)
        raise RefusedError(f"{show(text)} is no address", _ADDRESS_FORMS)
    port = match["port"]
    if port is not None and int(port) > 65535:
        raise RefusedError(f"port {port} is out of range", "1 to 65535")
    return match["host"], None if port is None else int(port)
