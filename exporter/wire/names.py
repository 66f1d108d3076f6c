"""Server names as TLS has them: sent in a ClientHello, and looked for among a certificate's names."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

from cryptography import x509


@lru_cache(1024)
def wire_name(server_name: str) -> bytes:
    """Return a name in its ASCII form, or an IP literal as it is; the ssl module takes a while for it each time.

    Neither the zone of an IPv6 address nor a name's closing dot is part of what a certificate holds.

    Raises:
        ValueError: (UnicodeError among them) the name cannot be encoded.
    """
    return server_name.partition("%")[0].removesuffix(".").encode("idna")


def is_address(server_name: str) -> bool:
    """Tell whether a server name is an IP literal, which is never sent as SNI (RFC 6066 section 3)."""
    return bool(_sought(server_name).address)


class HeldNames:
    """The names that a certificate holds, to be looked up by RFC 9525 section 6; its subject is not one of them."""

    __slots__ = ("_addresses", "_names")

    def __init__(self, names: Iterable[x509.GeneralName]) -> None:
        held = tuple(names)
        self._names = frozenset(name.value.lower() for name in held if isinstance(name, x509.DNSName))
        values = (name.value for name in held if isinstance(name, x509.IPAddress))
        self._addresses = frozenset(value.packed for value in values if isinstance(value, IPv4Address | IPv6Address))

    def match(self, server_name: str) -> bool:
        """Tell whether one of them stands for the name; an IP literal is looked for among the addresses alone.

        Raises:
            ValueError: the name cannot be encoded.
        """
        sought = _sought(server_name)
        if sought.address:
            return sought.address in self._addresses
        return sought.name in self._names or sought.wildcard in self._names


class _Sought(NamedTuple):
    """What a certificate must hold one of.

    Attributes:
        address: packed, b"" for a name.
        wildcard: a star for the whole left-most label, the only one that counts (RFC 9525 section 6.3).
    """

    address: bytes = b""
    name: str = ""
    wildcard: str = ""


@lru_cache(1024)
def _sought(server_name: str) -> _Sought:
    try:
        return _Sought(address=ip_address(server_name.partition("%")[0]).packed)
    except ValueError:
        name = wire_name(server_name).decode("ascii").lower()
    first, _, rest = name.partition(".")
    return _Sought(name=name, wildcard=f"*.{rest}" if first and rest else name)
